#include "problem/data_term.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "yosida/linalg/factor.hpp"

namespace yosida {
namespace {

/// How far rounding may take a sum over many rows from its true value, relative to it: no line search can ask
/// for more.
constexpr double kSlack = 1e-12;

}  // namespace

std::span<const double> DataTerm::targets(Index first, std::size_t margins) const {
  return {y_.data() + first, margins / static_cast<std::size_t>(k_)};
}

double DataTerm::sum(Index first, std::span<const double> m) const {
  const auto y = targets(first, m.size());
  if (s_.size() == 0) return loss_.sum(m, y);
  thread_local std::vector<double> values;
  values.resize(y.size());
  loss_.values(m, y, values);
  double total = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double s = s_[first + static_cast<Index>(i)];
    if (s != 0.0) total += s * values[i];  // a row that does not count may have an infinite loss
  }
  return total;
}

void DataTerm::weigh(Index first, std::span<double> r) const {
  if (s_.size() == 0) return;
  const auto k = static_cast<std::size_t>(k_);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] *= s_[first + static_cast<Index>(i / k)];
}

void DataTerm::slopes(Index first, std::span<double> m) const {
  loss_.slopes(m, targets(first, m.size()), m);
  weigh(first, m);
}

double DataTerm::value(const Vector& w) const {
  return x_.product_pass(
             as_span(w), [&](Index first, std::span<double> m) { return sum(first, m); }, k_) /
         rows();
}

double DataTerm::gradient(const Vector& w, Vector& g) const {
  g.setZero();
  const double total = x_.fused_pass(
      as_span(w),
      [&](Index first, std::span<double> m) {
        const double loss_of_rows = sum(first, m);
        slopes(first, m);
        return loss_of_rows;
      },
      as_span(g), k_);
  g /= rows();
  return total / rows();
}

void DataTerm::hessian_product(const Vector& w, const Vector& p, Vector& out) const {
  out.setZero();
  if (loss_.is_quadratic()) {  // ℓ″ = 1 wherever w is
    const auto weigh_rows = [&](Index first, std::span<double> products) {
      weigh(first, products);
      return 0.0;
    };
    x_.fused_pass(as_span(p), weigh_rows, as_span(out), k_);
  } else {
    const auto weigh_rows = [&](Index first, std::span<double> m, std::span<const double> dm) {
      loss_.curvatures(m, targets(first, m.size()), m);
      loss_.apply_curvatures(m, dm, m);
      weigh(first, m);
      return 0.0;
    };
    x_.fused_pass2(as_span(w), as_span(p), weigh_rows, as_span(out), k_);
  }
  out /= rows();
}

void DataTerm::row_derivatives(const Vector& w, const Vector& p, Vector& out) const {
  const auto k = static_cast<std::size_t>(k_);
  const auto derive = [&](Index first, std::span<double> m, std::span<const double> dm) {
    slopes(first, m);
    for (std::size_t i = 0; i < m.size(); i += k) {
      double sum = 0.0;
      for (std::size_t o = i; o < i + k; ++o) sum += m[o] * dm[o];
      out[first + static_cast<Index>(i / k)] = sum / rows();
    }
    return 0.0;
  };
  x_.product_pass2(as_span(w), as_span(p), derive, k_);
}

void DataTerm::margins(const Vector& w, Vector& m) const {
  m.resize(x_.rows() * k_);
  x_.multiply(as_span(w), as_span(m), k_);
}

double DataTerm::value_at(const Vector& m) const { return sum(0, as_span(m)) / rows(); }

void DataTerm::slopes_at(const Vector& m, Vector& r) const {
  r = m;
  slopes(0, as_span(r));
  r /= rows();
}

void DataTerm::gather(const Vector& r, Vector& g) const {
  g.setZero(size());
  x_.add_transposed(as_span(r), as_span(g), k_);
}

void DataTerm::state_at(const Vector& m, Vector& state) const {
  state.resize(m.size());
  loss_.curvatures(as_span(m), as_span(y_), as_span(state));
}

void DataTerm::hessian_product_at(const Vector& state, const Vector& p, Vector& out) const {
  out.setZero(size());
  x_.fused_pass(
      as_span(p),
      [&](Index first, std::span<double> dm) {
        loss_.apply_curvatures({state.data() + first * k_, dm.size()}, dm, dm);
        weigh(first, dm);
        return 0.0;
      },
      as_span(out), k_);
  out /= rows();
}

double DataTerm::curvature_along(const Vector& state, const Vector& p) const {
  const auto square = [&](Index first, std::span<double> dm) {
    thread_local std::vector<double> image;
    image.resize(dm.size());
    loss_.apply_curvatures({state.data() + first * k_, dm.size()}, dm, image);
    weigh(first, image);
    double total = 0.0;
    for (std::size_t i = 0; i < dm.size(); ++i) total += image[i] * dm[i];
    return total;
  };
  return x_.product_pass(as_span(p), square, k_) / rows();
}

void DataTerm::hessian_diagonal_at(const Vector& state, Vector& diagonal) const {
  Vector c(state.size());
  loss_.diagonal_curvatures(as_span(state), as_span(c));
  weigh(0, as_span(c));
  c /= rows();
  diagonal.setZero(size());
  x_.add_transposed_squares(as_span(c), as_span(diagonal), k_);
}

void DataTerm::row_curvatures(const Vector& state, Vector& h) const {
  h = state / rows();
  weigh(0, as_span(h));
}

void DataTerm::row_curvatures_along(const Vector& state, Index output, Matrix& h) const {
  h = Matrix::Zero(x_.rows(), k_);
  h.col(output).setConstant(1.0 / rows());
  const std::span<double> all{h.data(), static_cast<std::size_t>(h.size())};
  loss_.apply_curvatures(as_span(state), all, all);
  weigh(0, all);
}

void DataTerm::centre_free_weights(const Vector& c, Vector& w) const {
  if (!loss_.ignores_shifts()) return;
  for (Index i = 0; i < size(); i += k_)
    if (c.segment(i, k_).isZero(0.0)) w.segment(i, k_).array() -= w.segment(i, k_).mean();
}

void DataTerm::fit_intercepts(Vector& w) const {
  if (!intercept_) return;
  if (k_ == 1) {
    fit_one_intercept(w);
  } else {
    fit_several_intercepts(w);
  }
}

/// Newton on the convex b ↦ Σ s_i ℓ(m_i + b, y_i), kept inside a bracket; b's old value is the start.
void DataTerm::fit_one_intercept(Vector& w) const {
  double& b = w[penalisable()];
  thread_local std::vector<double> m, work;
  const auto n = static_cast<std::size_t>(x_.rows());
  m.resize(n);
  work.resize(n);
  x_.multiply(std::span(w.data(), static_cast<std::size_t>(penalisable())), m);
  const auto y = as_span(y_);
  if (!std::isfinite(b)) b = 0.0;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double last_step = 0.0;
  double stretch = 1.0;
  for (int iteration = 0; iteration < 100; ++iteration) {
    double slope = 0.0;
    double curvature = 0.0;
    std::transform(m.begin(), m.end(), work.begin(), [&](double value) { return value + b; });
    slopes(0, work);
    for (double value : work) slope += value;
    std::transform(m.begin(), m.end(), work.begin(), [&](double value) { return value + b; });
    loss_.curvatures(work, y, work);
    weigh(0, work);
    for (double value : work) curvature += value;
    (slope > 0.0 ? high : low) = b;
    // Where ℓ grows like e^b, Newton's steps are far too long on one side and of length 1 on the other: none
    // may more than double |b|, and they are stretched while they do not get shorter.
    const double step = slope / curvature;
    stretch = step * last_step > 0.0 && std::abs(step) > 0.5 * std::abs(last_step) ? 2.0 * stretch : 1.0;
    last_step = step;
    const double longest = 2.0 + std::abs(b);
    double next = b - std::clamp(stretch * step, -longest, longest);
    if (slope == 0.0 || next == b) return;
    if (!(next > low && next < high)) {
      if (std::isfinite(low) && std::isfinite(high)) {
        next = 0.5 * (low + high);
      } else {
        next = slope > 0.0 ? b - longest : b + longest;
      }
    }
    const bool done = std::abs(next - b) <= 1e-15 * (1.0 + std::abs(b)) || !std::isfinite(next);
    if (std::isfinite(next)) b = next;
    if (done) return;
  }
}

/// Damped Newton on b ↦ Σ s_i ℓ(m_i + b, y_i) with the K × K Hessian, from the old values.
void DataTerm::fit_several_intercepts(Vector& w) const {
  thread_local Vector m, at, state, b, trial, slope, step;
  thread_local Matrix hessian;
  const Index n = x_.rows();
  m.resize(n * k_);
  x_.multiply(std::span(w.data(), static_cast<std::size_t>(penalisable())), as_span(m), k_);
  b = w.tail(k_);
  if (!b.allFinite()) b.setZero();
  slope.resize(k_);
  hessian.resize(k_, k_);
  const auto move_to = [&](const Vector& intercepts) {
    at = m;
    for (Index i = 0; i < n; ++i) at.segment(i * k_, k_) += intercepts;
  };
  move_to(b);
  double value = sum(0, as_span(at));
  double last_length = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 100; ++iteration) {
    state.resize(at.size());
    loss_.curvatures(as_span(at), as_span(y_), as_span(state));
    slopes(0, as_span(at));
    slope.setZero();
    for (Index i = 0; i < n; ++i) slope += at.segment(i * k_, k_);
    hessian.setZero();
    loss_.add_curvatures(as_span(state), as_span(s_),
                         {hessian.data(), static_cast<std::size_t>(hessian.size())});
    // Intercepts that all move together change nothing: H is singular along 1 and slopes have no part there,
    // so that any multiple of 11ᵀ leaves the step as it is.
    if (loss_.ignores_shifts()) hessian.array() += hessian.diagonal().maxCoeff();
    hessian.diagonal().array() += 1e-15 * hessian.diagonal().maxCoeff() + 1e-300;
    step = -slope;
    if (!cholesky_solve(hessian, step)) break;
    double scale = 1.0;
    for (; scale > 1e-10; scale *= 0.5) {
      trial = b + scale * step;
      move_to(trial);
      const double next = sum(0, as_span(at));
      if (next <= value + 1e-4 * scale * slope.dot(step) + kSlack * std::abs(value)) {
        value = next;
        break;
      }
    }
    if (scale <= 1e-10) break;
    b = trial;
    // Steps shrink until rounding in the slopes makes them.
    const double length = step.norm() / (1.0 + b.norm());
    if (length <= 1e-14 || (length <= 1e-9 && length > 0.1 * last_length)) break;
    last_length = length;
  }
  if (loss_.ignores_shifts()) b.array() -= b.mean();
  w.tail(k_) = b;
}

}  // namespace yosida
