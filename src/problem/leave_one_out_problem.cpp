#include "problem/leave_one_out_problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "linalg/factor.hpp"
#include "linalg/row_numbers.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

using Kind = LeaveOneOutProblem::Kind;

/// The rows are held as numbers, and a few matrices of their size beside them.
constexpr double kMostNumbers = 1e8;
/// The smaller side of the rows is factored at every λ.
constexpr Index kLargestFactor = 4000;
/// The most operations that singular vectors for closed forms may take.
constexpr double kMostToRotate = 2e10;

std::string_view name_of(Kind kind) { return kind == Kind::generalised ? "gcv" : "loo"; }

/// F = R/D², R = 1/N Σ s_i ½r_i² and D = 1 − Σa_i/N.
class Generalised final : public LeftOut {
 public:
  Generalised(const LinearProblem& problem, const Matrix& x, const Vector& w, const Vector& lambda) {
    const Dataset& train = problem.split().train;
    const auto n = static_cast<double>(x.rows());
    const bool intercept = problem.intercepts() > 0;
    Vector s = Vector::Constant(x.rows(), 1.0 / n);
    if (train.weight.size() > 0) s = s.cwiseProduct(train.weight);
    const Vector c = penalty_curvatures(problem, lambda);
    const HatMatrix hat(x, intercept, s, c);
    gradient = Vector::Zero(w.size());
    gradient_lambda = Vector::Zero(problem.hyperparameters());
    of_rows = Vector::Zero(x.rows());
    if (!hat.is_whole()) {
      value = std::numeric_limits<double>::infinity();
      return;
    }
    Vector r = train.y - x * w.head(x.cols());
    if (intercept) r.array() -= w[x.cols()];
    const double free = hat.remainder().sum() / n;
    of_rows = 0.5 * r.array().square() / (free * free);
    margins = train.y - r / free;
    value = s.dot(of_rows);
    const Vector pull = -s.cwiseProduct(r) / (free * free);
    gradient.head(x.cols()) = x.transpose() * pull;
    if (intercept) gradient[x.cols()] = pull.sum();
    // ∂D/∂λ_g = 2e^λg/N Σ_j∈g M_jj,  M = H⁻¹(X̃ᵀSX̃/N)H⁻¹
    const Vector turn = sums_by_lambda(problem.penalty(), c.cwiseProduct(hat.spread(s).of_weights)) / n;
    gradient_lambda = -2.0 * value / free * turn;
    for_lambda_ = turn / free;
    along_ = intercept ? Matrix(x.rows(), x.cols() + 1) : x;
    if (intercept) along_ << x, Vector::Ones(x.rows());
    along_ = (s / (free * free)).cwiseSqrt().asDiagonal() * along_;
    residual_ = r.cwiseProduct((s / (free * free)).cwiseSqrt());
  }
  /// The curvature of the sum of squares of r_i/D.
  void curvature(const Matrix& phi1, Eigen::MatrixXd& out) const override {
    const Matrix jacobian = product(along_, phi1) + residual_ * for_lambda_.transpose();
    out = jacobian.transpose() * jacobian;
  }

 private:
  Matrix along_;
  Vector residual_, for_lambda_;
};

}  // namespace

void LeaveOneOutProblem::require_fits(const Loss& loss, Index rows, Index features, Kind kind) {
  if (kind == Kind::generalised && !loss.is_quadratic())
    throw InputError(
        fmt::format("--criterion gcv: is defined for least squares; use loo for {}", loss.name()));
  if (rows < 3)
    throw InputError(fmt::format("--criterion {}: {} rows: at least 3 are needed", name_of(kind), rows));
  const Index outputs = loss.outputs();
  const Index factor = outputs > 1 ? (features + 1) * outputs : std::min(rows, features + 1);
  const double numbers = static_cast<double>(rows) * static_cast<double>((features + 1) * outputs * outputs);
  if (factor > kLargestFactor || numbers > kMostNumbers)
    throw InputError(
        fmt::format("--criterion {}: {} rows of {} features{}: takes factors of order {} and {:.2g} "
                    "numbers; at most {} and {:g} are allowed: use --criterion folds",
                    name_of(kind), rows, features, outputs > 1 ? fmt::format(" and {} classes", outputs) : "",
                    factor, numbers, kLargestFactor, kMostNumbers));
}

namespace {

/// Without the only row of its class, an intercept would go to −∞.
void require_classes(const Dataset& train, const Loss& loss) {
  if (!loss.is_classification()) return;
  std::map<double, Index> rows;
  for (const double y : train.y) ++rows[y];
  for (const auto& [label, count] : rows)
    if (count < 2)
      throw InputError(
          fmt::format("{}: --criterion loo: class {} has 1 row: without it none is left to train on",
                      train.source, label));
}

}  // namespace

std::shared_ptr<const LeaveOneOutProblem> LeaveOneOutProblem::of(std::shared_ptr<const LinearProblem> direct,
                                                                 Kind kind) {
  const Dataset& train = direct->split().train;
  require_fits(direct->loss(), train.rows(), train.features(), kind);
  require_classes(train, direct->loss());
  // Fewer coordinates, or orthogonal ones. Row weights would make these oblique.
  const bool is_wide = train.features() > train.rows();
  const bool is_orthogonal = direct->loss().is_quadratic() && train.weight.size() == 0;
  std::shared_ptr<const RotatedProblem> rotated;
  if (direct->penalty().is_shared() && (is_wide || is_orthogonal) &&
      RotatedProblem::factoring_flops(*direct) <= kMostToRotate)
    rotated = RotatedProblem::of_rows(direct);
  return std::shared_ptr<const LeaveOneOutProblem>(
      new LeaveOneOutProblem(std::move(direct), std::move(rotated), kind));
}

LeaveOneOutProblem::LeaveOneOutProblem(std::shared_ptr<const LinearProblem> direct,
                                       std::shared_ptr<const RotatedProblem> rotated, Kind kind)
    : ForwardingProblem(rotated ? rotated->linear() : *direct),
      direct_(std::move(direct)),
      rotated_(std::move(rotated)),
      linear_(rotated_ ? rotated_->linear() : *direct_),
      kind_(kind),
      x_(to_matrix(linear_.split().train.x)) {
  const auto n = static_cast<double>(x_.rows());
  shift_ = kind_ == Kind::leave_one_out ? std::log1p(-1.0 / n) : 0.0;
  if (rotated_) traits_ = rotated_->traits();
  traits_.validation_depends_on_lambda = true;
  traits_.validation_needs_optimum = true;
  // The criterion factors a matrix of the same size at every λ: exact solves add little.
  traits_.factors_cheaply = true;
  if (rotated_ && linear_.loss().is_quadratic() && linear_.split().train.weight.size() == 0)
    prepare_closed_form();
}

double LeaveOneOutProblem::evaluation_work() const {
  const auto outputs = static_cast<double>(linear_.loss().outputs());
  const auto n = static_cast<double>(x_.rows());
  const double d = static_cast<double>(x_.cols()) * outputs;
  const double smaller = std::min(n, d);
  const double flops = 5.0 * n * d * smaller * outputs + smaller * smaller * smaller / 3.0;
  return flops / (2.0 * direct_->split().train.x.product_flops() * outputs);
}

void LeaveOneOutProblem::prepare_closed_form() {
  const Vector& y = linear_.split().train.y;
  const auto n = static_cast<double>(x_.rows());
  const bool intercept = linear_.intercepts() > 0;
  const bool spans_all = x_.cols() + (intercept ? 1 : 0) >= x_.rows();
  Orthogonal parts;
  parts.squares = x_.colwise().squaredNorm().transpose();
  if (!(parts.squares.minCoeff() > 0.0)) return;
  parts.u = x_ * parts.squares.cwiseSqrt().cwiseInverse().asDiagonal();
  const Vector centred = intercept ? Vector(y.array() - mean_of(linear_.split().train.x, y)) : y;
  parts.z = parts.u.transpose() * centred;
  parts.rest = Vector::Zero(x_.rows());
  parts.outside = Vector::Zero(x_.rows());
  if (!spans_all) {
    parts.rest = centred - parts.u * parts.z;
    parts.outside = (1.0 - (intercept ? 1.0 / n : 0.0) - parts.u.rowwise().squaredNorm().array()).max(0.0);
  }
  orthogonal_ = std::make_unique<const Orthogonal>(std::move(parts));
  traits_.has_closed_form = true;
}

/// With g_k = 2Ne^λ/(σ_k² + 2Ne^λ), the share that the penalty takes, g′ = g(1 − g):
///   r = rest + U(g∘z),  1 − a = outside + (U∘U)g,  e = r/(1 − a),  F = 1/N Σ ½e²
void LeaveOneOutProblem::closed_forms(std::span<const double> lambdas, std::span<CurvePoint> points) const {
  if (!orthogonal_) return ForwardingProblem::closed_forms(lambdas, points);
  const Orthogonal& at = *orthogonal_;
  const auto n = static_cast<double>(x_.rows());
  const auto count = static_cast<Index>(lambdas.size());
  Matrix taken(at.z.size(), count), turn(at.z.size(), count);
  for (Index l = 0; l < count; ++l) {
    const double penalty = 2.0 * n * std::exp(lambdas[static_cast<std::size_t>(l)] + shift_);
    taken.col(l) = penalty / (at.squares.array() + penalty);
    turn.col(l) = taken.col(l).array() * (1.0 - taken.col(l).array());
  }
  Matrix r = product(at.u, at.z.asDiagonal() * taken);
  r.colwise() += at.rest;
  const Matrix r_turn = product(at.u, at.z.asDiagonal() * turn);
  const Matrix squares = at.u.cwiseAbs2();
  Matrix left = product(squares, taken);
  left.colwise() += at.outside;
  const Matrix left_turn = product(squares, turn);
  for (Index l = 0; l < count; ++l) {
    CurvePoint& point = points[static_cast<std::size_t>(l)];
    if (kind_ == Kind::leave_one_out) {
      const Eigen::ArrayXd e = r.col(l).array() / left.col(l).array();
      point.value = 0.5 * e.square().sum() / n;
      point.slope =
          (e * (r_turn.col(l).array() - e * left_turn.col(l).array()) / left.col(l).array()).sum() / n;
    } else {
      const double free = left.col(l).sum() / n;
      const double mean = 0.5 * r.col(l).squaredNorm() / n;
      point.value = mean / (free * free);
      point.slope =
          (r.col(l).dot(r_turn.col(l)) / n - 2.0 * mean / free * left_turn.col(l).sum() / n) / (free * free);
    }
    point.work =
        2.0 * static_cast<double>(at.z.size()) / static_cast<double>(direct_->split().train.features());
  }
}

std::shared_ptr<const LeftOutRows> LeaveOneOutProblem::left_out_at(const Vector& w,
                                                                   const Vector& lambda) const {
  {
    const std::lock_guard lock(mutex_);
    if (best_.is_of(w, lambda)) return best_.rows;
  }
  return evaluated(w, lambda);
}

std::shared_ptr<const LeftOut> LeaveOneOutProblem::evaluated(const Vector& w, const Vector& lambda,
                                                             const StopToken* stop) const {
  require_sizes(*this, w, lambda);
  {
    const std::lock_guard lock(mutex_);
    if (last_.is_of(w, lambda)) return last_.rows;
  }
  const Vector shifted = own(lambda);
  std::shared_ptr<const LeftOut> made;
  if (kind_ == Kind::generalised) {
    made = std::make_shared<const Generalised>(linear_, x_, w, shifted);
  } else {
    made = left_out(linear_, x_, w, shifted, stop);
  }
  const std::lock_guard lock(mutex_);
  last_ = {w, lambda, made};
  if (!best_.rows || made->value < best_.rows->value)
    best_ = {w, lambda, std::make_shared<const LeftOutRows>(*made)};
  return made;
}

double LeaveOneOutProblem::validation_loss(const Vector& w, const Vector& lambda) const {
  return left_out_at(w, lambda)->value;
}

double LeaveOneOutProblem::validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  const auto at = left_out_at(w, lambda);
  g = at->gradient;
  return at->value;
}

void LeaveOneOutProblem::validation_gradient_lambda(const Vector& w, const Vector& lambda,
                                                    Vector& out) const {
  out = left_out_at(w, lambda)->gradient_lambda;
}

void LeaveOneOutProblem::validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                                    Vector& out) const {
  // By differences: the product of the problem that is forwarded to is of other rows.
  BilevelProblem::validation_hessian_product(w, lambda, p, out);  // NOLINT(bugprone-parent-virtual-call)
}

void LeaveOneOutProblem::validation_curvature(const Vector& w, const Vector& lambda, const Matrix& phi1,
                                              Eigen::MatrixXd& out) const {
  evaluated(w, lambda)->curvature(phi1, out);
}

double LeaveOneOutProblem::train_loss(const Vector& w, const Vector& lambda) const {
  return linear_.train_loss(w, own(lambda));
}
void LeaveOneOutProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  linear_.train_gradient(w, own(lambda), g);
}
void LeaveOneOutProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                         Vector& out) const {
  linear_.hessian_product(w, own(lambda), p, out);
}
void LeaveOneOutProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q,
                                       Vector& out) const {
  linear_.cross_product(w, own(lambda), q, out);
}
void LeaveOneOutProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                                  Vector& out) const {
  linear_.cross_product_transposed(w, own(lambda), p, out);
}
void LeaveOneOutProblem::train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  linear_.train_gradient_lambda(w, own(lambda), out);
}
InnerReport LeaveOneOutProblem::inner_solve(const Vector& lambda, const InnerOptions& options,
                                            Vector& w) const {
  InnerReport report = linear_.inner_solve(own(lambda), options, w);
  // Weights are trained to be judged, so the factor of the criterion is counted here. Leaving out all rows
  // may take minutes: it is done here, where a request to stop is heard, and L_V uses what was found.
  report.work.factorisations += evaluation_work();
  if (report.converged && options.stop != nullptr && !linear_.loss().is_quadratic())
    evaluated(w, lambda, options.stop);
  return report;
}
LinearReport LeaveOneOutProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                               const LinearOptions& options, Vector& x) const {
  return linear_.hessian_solve(w, own(lambda), b, options, x);
}
LinearReport LeaveOneOutProblem::hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                                    const LinearOptions& options, Matrix& x) const {
  return linear_.hessian_solve_many(w, own(lambda), b, options, x);
}
void LeaveOneOutProblem::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  linear_.certificate_scale(w, own(lambda), out);
}

Vector LeaveOneOutProblem::expand(const Vector& w) const { return rotated_ ? rotated_->expand(w) : w; }

Losses LeaveOneOutProblem::losses(const Vector& w, const Vector& lambda) const {
  const Vector full = expand(w);
  const bool intercept = direct_->intercepts() > 0;
  const Split& split = direct_->split();
  Losses result{.train = mean_loss(split.train, direct_->loss(), intercept, full),
                .validation = validation_loss(w, lambda),
                .test = {}};
  if (split.test) result.test = mean_loss(*split.test, direct_->loss(), intercept, full);
  return result;
}

}  // namespace yosida
