#include "yosida/problem/linear_problem.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "problem/newton.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/factor.hpp"

namespace yosida {
namespace {

std::span<const double> rows_of(const Vector& y, Index first, std::size_t count) {
  return {y.data() + first, count};
}

double intercept_of(const Dataset& data, const Vector& w, bool intercept) {
  return intercept ? w[data.features()] : 0.0;
}

void add(std::span<double> values, double b) {
  if (b == 0.0) return;
  for (double& value : values) value += b;
}

/// g = ∇ of the mean loss (the penalty apart), which is returned; one pass over the rows.
double mean_gradient(const Dataset& data, const Loss& loss, bool intercept, const Vector& w, Vector& g) {
  const double b = intercept_of(data, w, intercept);
  const double n = static_cast<double>(data.rows());
  g.setZero();
  const PassSums sums = data.x.fused_pass(
      as_span(w),
      [&](Index first, std::span<double> m) {
        add(m, b);
        const double loss_of_rows = loss.sum(m, rows_of(data.y, first, m.size()));
        loss.slopes(m, rows_of(data.y, first, m.size()), m);
        return loss_of_rows;
      },
      as_span(g, data.features()));
  if (intercept) g[data.features()] = sums.weights;
  g /= n;
  return sums.value / n;
}

/// out = (∇² of the mean loss at w) p; one pass over the rows.
void mean_hessian_product(const Dataset& data, const Loss& loss, bool intercept, const Vector& w,
                          const Vector& p, Vector& out) {
  const double b = intercept_of(data, w, intercept);
  const double b_p = intercept_of(data, p, intercept);
  const std::span<double> result(out.data(), static_cast<std::size_t>(data.features()));
  out.setZero();
  PassSums sums;
  if (loss.is_quadratic()) {  // ℓ″ = 1 wherever w is
    const auto shift = [&](Index, std::span<double> products) {
      add(products, b_p);
      return 0.0;
    };
    sums = data.x.fused_pass(as_span(p), shift, result);
  } else {
    const auto weigh = [&](Index first, std::span<double> m, std::span<const double> second) {
      add(m, b);
      loss.curvatures(m, rows_of(data.y, first, m.size()), m);
      for (std::size_t i = 0; i < m.size(); ++i) m[i] *= second[i] + b_p;
      return 0.0;
    };
    sums = data.x.fused_pass2(as_span(w), as_span(p), weigh, result);
  }
  if (intercept) out[data.features()] = sums.weights;
  out /= static_cast<double>(data.rows());
}

Vector column_means(const Dataset& data) {
  Vector mean = Vector::Zero(data.features());
  const Vector weight = Vector::Constant(data.rows(), 1.0 / static_cast<double>(data.rows()));
  data.x.add_transposed(as_span(weight), as_span(mean));
  return mean;
}

constexpr int kMaxMagnitudeDigits = 150;
const double kMaxMagnitude = std::pow(10.0, kMaxMagnitudeDigits);

/// The larger of both; NaN where either is.
double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

/// The largest |number| of a data set; NaN where there is one.
double largest_magnitude(const Dataset& data) {
  double largest = data.y.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  if (data.x.is_sparse()) {
    for (const double value : data.x.sparse().value) largest = larger(largest, std::abs(value));
  } else {
    largest = larger(largest, data.x.dense().matrix().cwiseAbs().maxCoeff<Eigen::PropagateNaN>());
  }
  return largest;
}

void check(const Dataset& data, const Dataset& train, const Loss& loss, const char* part) {
  const std::string name = std::string(part) + " rows (" + data.source + ")";
  if (data.rows() == 0) throw InputError(name + ": there are none; at least 1 is needed");
  if (data.y.size() != data.rows())
    throw InputError(name + ": " + std::to_string(data.rows()) + " rows but " +
                     std::to_string(data.y.size()) + " targets; each row needs one");
  if (data.features() != train.features())
    throw InputError(name + ": " + std::to_string(data.features()) + " features, the training rows have " +
                     std::to_string(train.features()) + "; they must be the same");
  if (const double largest = largest_magnitude(data); !(largest < kMaxMagnitude))
    throw InputError(name + ": holds a number that is not finite, or of " +
                     std::to_string(kMaxMagnitudeDigits) +
                     " digits or more after pretreatment: its square would overflow");
  if (!std::all_of(data.y.begin(), data.y.end(), [&](double y) { return loss.accepts(y); }))
    throw InputError(name + ": targets must be " + loss.targets() + " for a " + std::string(loss.name()) +
                     " problem");
}

}  // namespace

/// What inner solves in row space need: with fewer rows than features, w*(λ) lies in the span of
/// the rows. Xᵀ = Q R, so X Q = Rᵀ is a square design of N_T unknowns, and what a proximal term
/// adds at right angles to the rows has a closed form.
struct LinearProblem::RowSpace {
  Matrix q;
  Design design;
};

LinearProblem::LinearProblem(Split split, const Loss& loss, bool intercept)
    : split_(std::move(split)), loss_(loss), intercept_(intercept) {
  if (features() == 0) throw InputError("training rows (" + split_.train.source + "): no features");
  check(split_.train, split_.train, loss, "training");
  check(split_.validation, split_.train, loss, "validation");
  if (split_.test) check(*split_.test, split_.train, loss, "test");
  ones_ = Vector::Ones(weights());
  if (intercept_) {
    ones_[features()] = 0.0;
    train_mean_ = column_means(split_.train);
    target_mean_ = split_.train.y.mean();
  }
  Vector zero = Vector::Zero(weights());
  Vector g(weights());
  fit_intercept(zero);
  mean_gradient(split_.train, loss_, intercept_, zero, g);
  gradient_at_zero_ = g.norm();
}

LinearProblem::~LinearProblem() = default;

double LinearProblem::train_loss(const Vector& w, const Vector& lambda) const {
  return mean_loss(split_.train, loss_, intercept_, w) +
         std::exp(lambda[0]) * w.head(features()).squaredNorm();
}

void LinearProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  mean_gradient(split_.train, loss_, intercept_, w, g);
  g.head(features()) += 2.0 * std::exp(lambda[0]) * w.head(features());
}

void LinearProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                    Vector& out) const {
  mean_hessian_product(split_.train, loss_, intercept_, w, p, out);
  out.head(features()) += 2.0 * std::exp(lambda[0]) * p.head(features());
}

void LinearProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const {
  out.head(features()) = 2.0 * std::exp(lambda[0]) * q[0] * w.head(features());
  if (intercept_) out[features()] = 0.0;
}

void LinearProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                             Vector& out) const {
  out[0] = 2.0 * std::exp(lambda[0]) * w.head(features()).dot(p.head(features()));
}

double LinearProblem::validation_loss(const Vector& w) const {
  return mean_loss(split_.validation, loss_, intercept_, w);
}

double LinearProblem::validation_gradient(const Vector& w, Vector& g) const {
  return mean_gradient(split_.validation, loss_, intercept_, w, g);
}

void LinearProblem::validation_hessian_product(const Vector& w, const Vector& p, Vector& out) const {
  mean_hessian_product(split_.validation, loss_, intercept_, w, p, out);
}

bool LinearProblem::solves_in_row_space() const {
  const Design& x = split_.train.x;
  return !x.is_sparse() && x.rows() < x.cols() && x.rows() <= kMaxCholesky;
}

const LinearProblem::RowSpace& LinearProblem::row_space() const {
  std::call_once(row_space_once_, [&] {
    auto space = std::make_unique<RowSpace>();
    Qr factors = qr(split_.train.x.dense().matrix().transpose());
    space->q = std::move(factors.q);
    space->design = DenseDesign(Matrix(factors.r.transpose()));
    row_space_ = std::move(space);
  });
  return *row_space_;
}

InnerReport LinearProblem::inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const {
  const Index d = features();
  double c = 2.0 * std::exp(lambda[0]);
  Vector linear = Vector::Zero(d);
  if (options.proximal) {  // uᵀ(w − v) + ρ/2 ‖w − v‖² = ρ/2 ‖w‖² + (u − ρv)ᵀw + a constant
    c += options.proximal->rho;
    linear = options.proximal->u.head(d) - options.proximal->rho * options.proximal->v.head(d);
  }
  const double flops = 2.0 * split_.train.x.product_flops();
  const double tolerance = options.tolerance * std::max(gradient_at_zero_, linear.norm());
  InnerReport report;
  const bool exact = options.tolerance <= kExactTolerance;
  if (exact && solves_in_row_space()) {
    const RowSpace& space = row_space();
    const Vector reduced_linear = space.q.transpose() * linear;
    Vector a(space.q.cols() + (intercept_ ? 1 : 0));
    a.head(space.q.cols()) = space.q.transpose() * w.head(d);
    if (intercept_) a[space.q.cols()] = w[d];
    report = newton({space.design, split_.train.y, loss_, intercept_, c, reduced_linear, tolerance, exact,
                     options.max_count, flops},
                    a);
    w.head(d) = space.q * a.head(space.q.cols());
    if (options.proximal) w.head(d) -= (linear - space.q * reduced_linear) / c;
    if (intercept_) w[d] = a[space.q.cols()];
    report.work.factorisations += 2.0;  // four products with Q, each half a gradient
    // Q R of d × n with Q formed: 4 d n² operations, a gradient 4 n d.
    report.setup = static_cast<double>(split_.train.rows());
  } else {
    report = newton({split_.train.x, split_.train.y, loss_, intercept_, c, linear, tolerance, exact,
                     options.max_count, flops},
                    w);
  }
  report.setup += 1.0;  // the gradient at 0
  return report;
}

LinearReport LinearProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                          const LinearOptions& options, Vector& x) const {
  Vector curvatures = margins(split_.train, intercept_, w);
  loss_.curvatures(as_span(curvatures), as_span(split_.train.y), as_span(curvatures));
  curvatures /= static_cast<double>(split_.train.rows());
  const HessianSystem hessian{split_.train.x, intercept_, 2.0 * std::exp(lambda[0]), curvatures,
                              2.0 * split_.train.x.product_flops()};
  LinearReport report = hessian.solve(b, options.tolerance * b.norm(), options.max_count,
                                      options.tolerance <= kExactTolerance, x);
  report.work.factorisations += 0.5;  // the margins: a product with the design
  return report;
}

void LinearProblem::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  Vector a = w;
  if (intercept_) a[features()] = 0.0;
  Vector product(weights());
  mean_hessian_product(split_.train, loss_, intercept_, w, a, product);
  out[0] = certificate_scale_of(a.dot(product) / a.squaredNorm(), std::exp(lambda[0]));
}

void LinearProblem::fit_intercept(Vector& w) const {
  if (!intercept_) return;
  double& b = w[features()];
  if (loss_.is_quadratic()) {
    b = target_mean_ - train_mean_.dot(w.head(features()));
    return;
  }
  // Newton on the convex b ↦ Σ ℓ(m_i + b, y_i), kept inside a bracket; b's old value is the start.
  thread_local std::vector<double> m, work;
  const std::size_t n = static_cast<std::size_t>(split_.train.rows());
  m.resize(n);
  work.resize(n);
  split_.train.x.multiply(as_span(w), m);
  const auto y = as_span(split_.train.y);
  if (!std::isfinite(b)) b = 0.0;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 100; ++iteration) {
    double slope = 0.0;
    double curvature = 0.0;
    std::transform(m.begin(), m.end(), work.begin(), [&](double value) { return value + b; });
    loss_.slopes(work, y, work);
    for (double value : work) slope += value;
    std::transform(m.begin(), m.end(), work.begin(), [&](double value) { return value + b; });
    loss_.curvatures(work, y, work);
    for (double value : work) curvature += value;
    (slope > 0.0 ? high : low) = b;
    double next = b - slope / curvature;
    if (slope == 0.0 || next == b) return;
    if (!(next > low && next < high)) {
      if (std::isfinite(low) && std::isfinite(high)) {
        next = 0.5 * (low + high);
      } else {
        next = slope > 0.0 ? b - 2.0 - std::abs(b) : b + 2.0 + std::abs(b);
      }
    }
    const bool done = std::abs(next - b) <= 1e-15 * (1.0 + std::abs(b)) || !std::isfinite(next);
    if (std::isfinite(next)) b = next;
    if (done) return;
  }
}

Work LinearProblem::intercept_work() const {
  Work work;
  // A quadratic loss needs only means; any other a product with the design, as a loss does.
  if (intercept_ && !loss_.is_quadratic()) work.loss_evaluations = 1;
  return work;
}

Losses LinearProblem::losses(const Vector& w) const {
  Losses result{
      .train = mean_loss(split_.train, loss_, intercept_, w), .validation = validation_loss(w), .test = {}};
  if (split_.test) result.test = mean_loss(*split_.test, loss_, intercept_, w);
  return result;
}

double mean_loss(const Dataset& data, const Loss& loss, bool intercept, const Vector& w) {
  const double b = intercept_of(data, w, intercept);
  return data.x.product_pass(as_span(w), [&](Index first, std::span<double> m) {
    add(m, b);
    return loss.sum(m, rows_of(data.y, first, m.size()));
  }) / static_cast<double>(data.rows());
}

Vector margins(const Dataset& data, bool intercept, const Vector& w) {
  Vector m(data.rows());
  data.x.multiply(as_span(w), as_span(m));
  if (intercept) m.array() += w[data.features()];
  return m;
}

}  // namespace yosida
