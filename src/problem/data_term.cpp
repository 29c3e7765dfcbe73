#include "problem/data_term.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "linalg/factor.hpp"
#include "linalg/gram.hpp"
#include "linalg/ranks.hpp"

namespace yosida {
namespace {

/// How far rounding may take a sum over many rows from its true value, relative to it: no line search can ask
/// for more.
constexpr double kSlack = 1e-12;

/// Numbers of the rows while intercepts are fitted, kept from call to call where they are few.
struct InterceptScratch {
  Vector m, at, state;
  Vector b, trial, slope, step, sums;
  Matrix hessian;
};

/// Lends a thread's scratch with so many margins, and frees what is large of it in the end.
class Lent {
 public:
  Lent(InterceptScratch& scratch, Index margins, bool has_state = false) : scratch_(scratch) {
    for (Vector* each : {&scratch_.m, &scratch_.at}) each->resize(margins);
    if (has_state) scratch_.state.resize(margins);
  }
  ~Lent() {
    constexpr Index kFew = Index{1} << 16;
    for (Vector* each : {&scratch_.m, &scratch_.at, &scratch_.state})
      if (each->size() > kFew) each->resize(0);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

 private:
  InterceptScratch& scratch_;
};

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

double DataTerm::sum_and_slopes(Index first, std::span<double> m) const {
  if (s_.size() == 0) return loss_.sum_and_slopes(m, targets(first, m.size()), m);
  const double total = sum(first, m);
  slopes(first, m);
  return total;
}

double DataTerm::value(const Vector& w) const {
  return x_.product_pass(
             as_span(w), [&](Index first, std::span<double> m) { return sum(first, m); }, k_) /
         rows();
}

double DataTerm::gradient(const Vector& w, Vector& g) const {
  g.setZero();
  const double total = x_.fused_pass(
      as_span(w), [&](Index first, std::span<double> m) { return sum_and_slopes(first, m); }, as_span(g), k_);
  g /= rows();
  return total / rows();
}

double DataTerm::gradient(const Vector& w, Vector& m, Vector& g) const {
  m.resize(x_.rows() * k_);
  g.setZero(size());
  const double total = x_.fused_pass(
      as_span(w),
      [&](Index first, std::span<double> own) {
        std::copy(own.begin(), own.end(), m.data() + first * k_);
        return sum_and_slopes(first, own);
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
  linalg::gather_rows(x_.rows(), 1, out.data());
}

void DataTerm::margins(const Vector& w, Vector& m) const {
  m.resize(x_.rows() * k_);
  x_.multiply(as_span(w), as_span(m), k_);
}

void DataTerm::products(const Vector& w, Vector& m) const {
  m.resize(x_.rows() * k_);
  if (w.head(penalisable()).isZero(0.0)) {  // as at every start
    m.setZero();
  } else {
    x_.multiply(std::span(w.data(), static_cast<std::size_t>(penalisable())), as_span(m), k_);
  }
}

void DataTerm::add_intercepts(const Vector& w, Vector& m) const {
  if (!intercept_) return;
  Eigen::Map<Matrix>(m.data(), x_.rows(), k_).rowwise() += w.tail(k_).transpose();
}

template <typename Margins, typename Range>
double DataTerm::over_margins(Margins& m, const Range& range, std::span<double> sums) const {
  return x_.sum_rows(
      k_,
      [&](Index first, Index count, double* own_sums) {
        return range(first, std::span(m.data() + first * k_, static_cast<std::size_t>(count * k_)), own_sums);
      },
      sums);
}

double DataTerm::value_at(const Vector& m) const {
  return over_margins(m, [&](Index first, auto part, double*) { return sum(first, part); }) / rows();
}

void DataTerm::slopes_at(const Vector& m, Vector& r) const {
  r.resize(m.size());
  over_margins(r, [&](Index first, std::span<double> part, double*) {
    std::copy_n(m.data() + first * k_, part.size(), part.data());
    slopes(first, part);
    for (double& each : part) each /= rows();
    return 0.0;
  });
}

void DataTerm::gather(const Vector& r, Vector& g) const {
  g.setZero(size());
  x_.add_transposed(as_span(r), as_span(g), k_);
}

void DataTerm::state_at(const Vector& m, Vector& state) const {
  state.resize(m.size());
  over_margins(m, [&](Index first, std::span<const double> part, double*) {
    loss_.curvatures(part, targets(first, part.size()), {state.data() + first * k_, part.size()});
    return 0.0;
  });
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
  const auto square = [&](Index first, std::span<double> dm) { return square_of(state, first, dm); };
  return x_.product_pass(as_span(p), square, k_) / rows();
}

double DataTerm::curvature_of(const Vector& state, const Vector& dm) const {
  return over_margins(dm, [&](Index first, auto part, double*) { return square_of(state, first, part); }) /
         rows();
}

double DataTerm::square_of(const Vector& state, Index first, std::span<const double> dm) const {
  thread_local std::vector<double> image;
  image.resize(dm.size());
  loss_.apply_curvatures({state.data() + first * k_, dm.size()}, dm, image);
  weigh(first, image);
  double total = 0.0;
  for (std::size_t i = 0; i < dm.size(); ++i) total += image[i] * dm[i];
  return total;
}

void DataTerm::hessian_diagonal_at(const Vector& state, Vector& diagonal) const {
  Vector c(state.size());
  loss_.diagonal_curvatures(as_span(state), as_span(c));
  weigh(0, as_span(c));
  c /= rows();
  diagonal.setZero(size());
  x_.add_transposed_squares(as_span(c), as_span(diagonal), k_);
}

void DataTerm::hessian_border_at(const Vector& state, Vector& border) const {
  Vector c(state.size());
  loss_.diagonal_curvatures(as_span(state), as_span(c));
  weigh(0, as_span(c));
  c /= rows();
  gather(c, border);
}

void DataTerm::row_curvatures(const Vector& state, Vector& h) const {
  h = state / rows();
  weigh(0, as_span(h));
  linalg::gather_rows(x_.rows(), k_, h.data());
}

void DataTerm::row_curvature_traces(const Vector& state, Vector& h) const {
  Vector diagonal(state.size());
  loss_.diagonal_curvatures(as_span(state), as_span(diagonal));
  weigh(0, as_span(diagonal));
  h = Eigen::Map<const Matrix>(diagonal.data(), x_.rows(), k_).rowwise().sum() / rows();
  linalg::gather_rows(x_.rows(), 1, h.data());
}

Matrix DataTerm::mean_curvature(const Vector& own) const {
  Vector state = own;
  linalg::gather_rows(x_.rows(), k_, state.data());
  Matrix sum = Matrix::Zero(k_, k_);
  loss_.add_curvatures(as_span(state), as_span(s_), {sum.data(), static_cast<std::size_t>(sum.size())});
  return sum / rows();
}

Matrix DataTerm::hessian_at(const Vector& state, const StopToken* stop) const {
  Vector h;
  row_curvatures(state, h);
  Matrix hessian(size(), size());
  hessian.topLeftCorner(x_.cols(), x_.cols()) = weighted_gram(x_, as_span(h), stop);
  if (intercept_) {
    Vector border;
    gather(h, border);
    hessian.col(x_.cols()) = border;
    hessian.row(x_.cols()) = border.transpose();
  }
  return hessian;
}

Matrix DataTerm::hessian_on(const Vector& state, const std::vector<Index>& set) const {
  if (set.empty()) return {};
  if (k_ > 1) return hessian_of_outputs_on(state, set);
  Vector h;
  row_curvatures(state, h);
  return weighted_gram(x_, as_span(h), set);
}

void DataTerm::for_each_pair_of_outputs(const Vector& own, Index columns, FunctionRef<GramOfWeights> gram_of,
                                        FunctionRef<void(Index, Index, const Matrix&)> put,
                                        FunctionRef<void(Index, const Matrix&)> then) const {
  Vector state = own;
  linalg::gather_rows(x_.rows(), k_, state.data());
  Matrix along(x_.rows(), k_);  // s_i/N ∂²ℓ_i/∂m_o∂m_l of each row i and output l
  const std::span<double> all{along.data(), static_cast<std::size_t>(along.size())};
  for (Index o = 0; o < k_; ++o) {
    along.setZero();
    along.col(o).setConstant(1.0 / rows());
    loss_.apply_curvatures(as_span(state), all, all);
    weigh(0, all);
    for (Index l = 0; l <= o; ++l) {
      // Curvatures between two outputs may have either sign, the weights of a Gram matrix may not.
      const Vector up = along.col(l).cwiseMax(0.0), down = along.col(l).cwiseMin(0.0).cwiseAbs();
      Matrix gram = Matrix::Zero(columns, columns);
      if (up.maxCoeff() > 0.0) gram += gram_of(as_span(up));
      if (down.maxCoeff() > 0.0) gram -= gram_of(as_span(down));
      put(o, l, gram);
    }
    then(o, along);
  }
}

/// A Gram matrix of the features in the set for each pair of outputs; intercepts are those of a column of
/// ones, behind the others.
Matrix DataTerm::hessian_of_outputs_on(const Vector& state, const std::vector<Index>& set) const {
  std::vector<Index> features;
  std::vector<std::vector<std::pair<Index, Index>>> places(static_cast<std::size_t>(k_));  // in h, feature
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Index feature = set[i] / k_;
    if (features.empty() || features.back() != feature) features.push_back(feature);
    places[static_cast<std::size_t>(set[i] % k_)].emplace_back(static_cast<Index>(i),
                                                               std::ssize(features) - 1);
  }
  Matrix hessian(set.size(), set.size());
  for_each_pair_of_outputs(
      state, std::ssize(features),
      [&](std::span<const double> weight) { return weighted_gram(x_, weight, features); },
      [&](Index o, Index l, const Matrix& gram) {
        for (const auto& [row, i] : places[static_cast<std::size_t>(o)])
          for (const auto& [column, j] : places[static_cast<std::size_t>(l)])
            hessian(row, column) = hessian(column, row) = gram(i, j);
      });
  return hessian;
}

double DataTerm::hessian_on_flops(std::size_t size) const {
  // A sparse row adds only the pairs of its own columns: its share of non-zeros, twice.
  const double dense = 2.0 * rows() * static_cast<double>(x_.cols());
  const double columns = x_.product_flops() / dense * static_cast<double>(size);
  const auto outputs = static_cast<double>(k_);
  return rows() * columns * columns * (k_ > 1 ? 0.5 * (outputs + 1.0) / outputs : 1.0);
}

Matrix DataTerm::hessian_of_outputs_at(const Vector& state, const StopToken* stop) const {
  const Index d = x_.cols();
  Matrix hessian(size(), size());
  for_each_pair_of_outputs(
      state, d, [&](std::span<const double> weight) { return weighted_gram(x_, weight, stop); },
      [&](Index o, Index l, const Matrix& gram) {
        for (Index i = 0; i < d; ++i)
          for (Index j = 0; j < d; ++j)
            hessian(i * k_ + o, j * k_ + l) = hessian(i * k_ + l, j * k_ + o) = gram(i, j);
      },
      [&](Index o, const Matrix& along) {
        if (!intercept_) return;
        Vector border;
        gather(Eigen::Map<const Vector>(along.data(), along.size()), border);
        hessian.col(penalisable() + o) = border;
        hessian.row(penalisable() + o) = border.transpose();
      });
  return hessian;
}

void DataTerm::centre_free_weights(const Vector& c, Vector& w) const {
  if (!loss_.ignores_shifts()) return;
  for (Index i = 0; i < size(); i += k_)
    if (c.segment(i, k_).isZero(0.0)) w.segment(i, k_).array() -= w.segment(i, k_).mean();
}

void hold_shifts(Index outputs, const Vector& c, Matrix& hessian) {
  const Index k = outputs;
  for (Index i = 0; i < c.size(); i += k)
    if (c.segment(i, k).isZero(0.0))
      hessian.block(i, i, k, k).array() += hessian.diagonal().segment(i, k).maxCoeff();
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
  thread_local InterceptScratch of_thread;
  InterceptScratch& own = of_thread;  // by other threads, too, which have another `of_thread`
  const Lent lent(own, x_.rows());
  products(w, own.m);
  if (!std::isfinite(b)) b = 0.0;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double last_step = 0.0;
  double stretch = 1.0;
  const auto sum_at_b = [&](const auto& derive) {
    return over_margins(own.at, [&](Index first, std::span<double> part, double*) {
      for (std::size_t i = 0; i < part.size(); ++i) part[i] = own.m[first + static_cast<Index>(i)] + b;
      derive(first, part);
      double total = 0.0;
      for (const double value : part) total += value;
      return total;
    });
  };
  for (int iteration = 0; iteration < 100; ++iteration) {
    const double slope = sum_at_b([&](Index first, std::span<double> part) { slopes(first, part); });
    const double curvature = sum_at_b([&](Index first, std::span<double> part) {
      loss_.curvatures(part, targets(first, part.size()), part);
      weigh(first, part);
    });
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

namespace {

/// Intercepts that all move together change nothing: H is singular along 1 and slopes have no part there,
/// so that any multiple of 11ᵀ leaves the step as it is.
void make_positive(Matrix& hessian, bool ignores_shifts) {
  if (ignores_shifts) hessian.array() += hessian.diagonal().maxCoeff();
  hessian.diagonal().array() += 1e-15 * hessian.diagonal().maxCoeff() + 1e-300;
}

}  // namespace

/// Damped Newton on b ↦ Σ s_i ℓ(m_i + b, y_i) with the K × K Hessian, from the old values.
void DataTerm::fit_several_intercepts(Vector& w) const {
  thread_local InterceptScratch of_thread;
  InterceptScratch& own = of_thread;  // by other threads, too, which have another `of_thread`
  const Lent lent(own, x_.rows() * k_, true);
  products(w, own.m);
  Vector &b = own.b, &trial = own.trial, &slope = own.slope, &step = own.step, &sums = own.sums;
  Matrix& hessian = own.hessian;
  b = w.tail(k_);
  if (!b.allFinite()) b.setZero();
  sums.resize(k_ + k_ * k_);
  const auto k = static_cast<std::size_t>(k_);
  const auto value_with = [&](const Vector& intercepts) {
    return over_margins(own.at, [&](Index first, std::span<double> part, double*) {
      const double* from = own.m.data() + first * k_;
      for (std::size_t i = 0; i < part.size(); i += k)
        for (std::size_t o = 0; o < k; ++o) part[i + o] = from[i + o] + intercepts[static_cast<Index>(o)];
      return sum(first, part);
    });
  };
  // Slopes, then the Hessian, row by row.
  const auto add_derivatives = [&](Index first, std::span<double> part, double* own_sums) {
    const std::span<double> state(own.state.data() + first * k_, part.size());
    loss_.curvatures(part, targets(first, part.size()), state);
    slopes(first, part);
    for (std::size_t i = 0; i < part.size(); i += k)
      for (std::size_t o = 0; o < k; ++o) own_sums[o] += part[i + o];
    const std::span<const double> weights =
        s_.size() == 0 ? std::span<const double>() : std::span(s_.data() + first, part.size() / k);
    loss_.add_curvatures(state, weights, {own_sums + k, k * k});
    return 0.0;
  };
  double value = value_with(b);
  double last_length = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 100; ++iteration) {
    sums.setZero();
    over_margins(own.at, add_derivatives, as_span(sums));
    slope = sums.head(k_);
    hessian = Eigen::Map<const Matrix>(sums.data() + k_, k_, k_);
    make_positive(hessian, loss_.ignores_shifts());
    step = -slope;
    if (!cholesky_solve(hessian, step)) break;
    double scale = 1.0;
    for (; scale > 1e-10; scale *= 0.5) {
      trial = b + scale * step;
      const double next = value_with(trial);
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
