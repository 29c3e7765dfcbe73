#include "yosida/problem/sparse_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/factor.hpp"
#include "linalg/power_iteration.hpp"
#include "linalg/ranks.hpp"
#include "problem/lasso_curve.hpp"
#include "problem/newton.hpp"
#include "problem/penalty_range.hpp"
#include "problem/row_space_system.hpp"
#include "problem/shared_curve.hpp"
#include "problem/sparse_kinks.hpp"
#include "problem/sparse_newton.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

/// e^λ₁ goes down to e^−14 of the smallest that leaves w = 0: a millionth. It ends just before that one,
/// where the first weight is in the support already: at w = 0 itself there is no slope to tell a solver to go
/// on.
constexpr double kUnitsBelow = 14.0;
constexpr double kJustBelow = 0.999;
/// A share of the gradient at 0: no inner solve is asked for more than rounding allows.
constexpr double kRounding = 1e-14;
/// Beyond this, relative to the gradient at 0, a solve is tight whatever e^λ₁ is.
constexpr double kTight = 1e-11;
/// The share of a blur that is made use of. Getting there costs little; support and L_V of a solve as coarse
/// as solvers permit (a tenth of the penalty's own slope) are another λ's.
constexpr double kPermitted = 0.1;
constexpr int kPowerIterations = 8;
/// Passes over more numbers than these are not made for what may not be asked for.
constexpr Index kManyNumbers = Index{1} << 22;
/// Weights come and go one by one: h has a kink at each and valleys between.
constexpr double kWidthOfKinks = 0.1;

const Vector& no_penalty() {
  static const Vector value = Vector::Constant(1, -std::numeric_limits<double>::infinity());
  return value;
}

SharedLoss of_any_shift(SharedLoss loss, const SparsePenalty& penalty) {
  if (loss->outputs() == 2 && loss->ignores_shifts() && penalty.l1())
    throw InputError("loss = " + std::string(loss->name()) +
                     ": an l1 penalty leaves the weights of two classes free to move together; take the "
                     "logistic loss, which has one weight for each feature");
  return loss;
}

DataTerm train_term(const LinearProblem& linear) {
  return {linear.split().train, linear.loss(), linear.intercepts() > 0};
}

/// Nothing but ℓ₁ terms, on every weight: with equal λ it is a lasso.
bool is_l1_of_all(const SparsePenalty& penalty) {
  if (!penalty.l1() || penalty.groups() || penalty.l2()) return false;
  for (Index j = 0; j < penalty.weights(); ++j)
    if (penalty.l1()->group(j) == Penalty::kNone) return false;
  return true;
}

}  // namespace

SparseProblem::SparseProblem(Split split, SharedLoss loss, bool intercept, SparsePenalty penalty,
                             std::shared_ptr<SharedRows> shared)
    : linear_(std::move(split), of_any_shift(std::move(loss), penalty), intercept),
      penalty_(std::move(penalty)) {
  if (penalty_.weights() != penalised())
    throw InputError("penalty: is of " + std::to_string(penalty_.weights()) + " weights; here are " +
                     std::to_string(penalised()));
  Vector zero = Vector::Zero(weights());
  Vector g(weights());
  linear_.fit_intercept(zero);
  linear_.train_gradient(zero, no_penalty(), g);
  gradient_at_zero_ = g;
  largest_slope_ = g.head(penalised()).lpNorm<Eigen::Infinity>();
  // The path of a lasso needs no curvature; whoever does finds it.
  const bool finds_curvature = penalty_.l2() || !this->loss().is_quadratic() ||
                               this->split().train.x.rows() * this->split().train.x.cols() <= kManyNumbers;
  if (finds_curvature) traits_.largest_curvature = largest_curvature_at(zero, g);
  traits_.has_penalties = true;
  traits_.ones = linear_.traits().ones;
  traits_.has_train_gradient_lambda = true;
  traits_.train_rows = this->split().train.rows();
  traits_.bounds = bounds_of_lambda(traits_.largest_curvature.value_or(0.0));
  traits_.feature_width = kWidthOfKinks;
  traits_.factors_cheaply = solves_at_once();
  traits_.certificate_work.hessian_products = 1;
  traits_.intercept_work = linear_.traits().intercept_work;
  traits_.setup_work = 1.0 + (finds_curvature ? kPowerIterations + (intercept ? 1.0 : 0.0) : 0.0);
  if (!this->loss().is_quadratic()) return;
  const bool only_one = penalty_.hyperparameters() == 1 && is_l1_of_all(penalty_);
  curves_ = std::make_unique<LassoCurves>(linear_.split(), intercept, gradient_flops(), only_one,
                                          std::move(shared));
}

/// By power iteration from the gradient, which points there: good to a few per cent. With an intercept, of
/// the data term with it refitted: the Schur complement of its column.
double SparseProblem::largest_curvature_at(const Vector& zero, Vector gradient) const {
  Vector scratch;
  Vector column = Vector::Zero(weights());
  const bool has_one = intercepts() == 1;
  if (has_one) linear_.hessian_product(zero, no_penalty(), Vector::Unit(weights(), penalised()), column);
  const auto refitted_product = [&](const Vector& p, Vector& out) {
    linear_.hessian_product(zero, no_penalty(), p, out);
    if (has_one && column[penalised()] > 0.0) out -= column * (out[penalised()] / column[penalised()]);
    out.tail(intercepts()).setZero();
  };
  gradient.tail(intercepts()).setZero();
  return power_iteration(refitted_product, kPowerIterations, gradient, scratch).rayleigh;
}

SparseProblem::~SparseProblem() = default;

double SparseProblem::gradient_flops() const {
  return 2.0 * split().train.x.product_flops() * static_cast<double>(loss().outputs());
}

std::vector<Index> SparseProblem::support(const SparsePenaltyAt& at, const Vector& w) const {
  std::vector<Index> set = at.support(w);
  for (Index j = penalised(); j < weights(); ++j) set.push_back(j);
  return set;
}

Vector SparseProblem::squares(const SparsePenaltyAt& at) const {
  Vector c = Vector::Zero(weights());
  c.head(penalised()) = at.curvatures();
  return c;
}

double SparseProblem::train_loss(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  return linear_.train_loss(w, no_penalty()) + penalty_.at(lambda).value(w);
}

void SparseProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  smooth_gradient(w, lambda, g);
  penalty_.at(lambda).smallest_subgradient(w, g);
}

void SparseProblem::smooth_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  require_sizes(*this, w, lambda);
  g.resize(weights());
  linear_.train_gradient(w, no_penalty(), g);
  g.head(penalised()) += penalty_.at(lambda).curvatures().cwiseProduct(w.head(penalised()));
}

void SparseProblem::smooth_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                           Vector& out) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  out.resize(weights());
  linear_.hessian_product(w, no_penalty(), p, out);
  out.head(penalised()) += penalty_.at(lambda).curvatures().cwiseProduct(p.head(penalised()));
}

void SparseProblem::proximal_step(double step, const Vector& lambda, Vector& w) const {
  require_sizes(*this, w, lambda);
  penalty_.at(lambda).prox(step, w);
}

void SparseProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                    Vector& out) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  out.resize(weights());
  const SparsePenaltyAt at = penalty_.at(lambda);
  Vector free = Vector::Zero(weights());
  free(support(at, w)).setOnes();
  const Vector on_support = p.cwiseProduct(free);
  linear_.hessian_product(w, no_penalty(), on_support, out);
  out.head(penalised()) += at.curvatures().cwiseProduct(on_support.head(penalised()));
  at.add_curvature_product(w, on_support, out);
  out = (free.array() > 0.0).select(out, p);
}

void SparseProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const {
  require_sizes(*this, w, lambda);
  require_lambda(*this, q);
  out.resize(weights());
  penalty_.cross_product(w, lambda, q, out);
}

void SparseProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                             Vector& out) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  out.resize(hyperparameters());
  penalty_.cross_product_transposed(w, lambda, p, out);
}

void SparseProblem::train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  out.resize(hyperparameters());
  penalty_.terms(w, lambda, out);
}

double SparseProblem::duality_gap(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  const DataTerm data = train_term(linear_);
  const Dataset& train = split().train;
  const SparsePenaltyAt at = penalty_.at(lambda);
  // θ_i = −κ s_i ℓ'_i / N is feasible for the κ that the penalty allows at z = −Xᵀ(s ℓ')/N.
  Vector m, r, z;
  data.margins(w, m);
  data.slopes_at(m, r);
  data.gather(r, z);
  const auto [kappa, price] = at.dual(z.head(penalised()));
  const auto n = static_cast<double>(train.rows());
  Vector u(m.size()), conjugates(train.rows());
  loss().slopes(as_span(m), as_span(train.y), as_span(u));
  u *= kappa;
  loss().conjugates(as_span(u), as_span(train.y), as_span(conjugates));
  double dual = price;
  for (Index i = 0; i < train.rows(); ++i) {
    const double s = train.weight.size() == 0 ? 1.0 : train.weight[i];
    if (s != 0.0) dual += s / n * conjugates[i];
  }
  return train_loss(w, lambda) + dual;
}

std::optional<Matrix> SparseProblem::known_hessian(const std::vector<Index>& set) const {
  const Design& x = split().train.x;
  if (!curves_ || x.cols() > kMaxCholesky || x.rows() < x.cols()) return {};
  return curves_->hessian_on(set);
}

InnerReport SparseProblem::inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const {
  require_sizes(*this, w, lambda);
  const SparsePenaltyAt at = penalty_.at(lambda);
  Vector c = squares(at);
  Vector linear = Vector::Zero(weights());
  add_proximal(options.proximal, traits_.ones, c, linear);
  // Norms of groups join columns of different scales: they have no units of their own.
  const Vector units = column_units(at.has_groups() ? nullptr : linear_.units(), weights());
  const double size =
      std::max(gradient_at_zero_.cwiseProduct(units).norm(), linear.cwiseProduct(units).norm());
  // A subgradient is small beside the least e^λ of a norm alone: one of that size leaves weights out that
  // belong in.
  double threshold = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < penalised(); ++j)
    if (at.l1(j) > 0.0) threshold = std::min(threshold, at.l1(j) * units[j]);
  for (Index g = 0; g < penalty_.group_count(); ++g)
    if (at.group(g) > 0.0) threshold = std::min(threshold, at.group(g));
  const double relative = std::max(options.tolerance * std::min(size, threshold),
                                   std::clamp(options.tolerance, kRounding, kTight) * size);
  Vector turn(weights());
  cross_product(w, lambda, Vector::Ones(hyperparameters()), turn);
  const double tolerance = std::max(relative, kPermitted * options.blur * turn.cwiseProduct(units).norm());
  bool is_kept = false;
  const auto hessian = [&](const std::vector<Index>& set) {
    std::optional<Matrix> known = known_hessian(set);
    is_kept = known.has_value();
    return known;
  };
  const DataTerm data = train_term(linear_);
  InnerReport report = sparse_newton(
      {data, c, linear, at, tolerance, options.max_count, gradient_flops(), hessian, units, options.stop}, w);
  if (is_kept) report.setup = data.hessian_on_flops(static_cast<std::size_t>(weights())) / gradient_flops();
  return report;
}

LinearReport SparseProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                          const LinearOptions& options, Vector& x) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, b);
  require_weights(*this, x);
  const SparsePenaltyAt at = penalty_.at(lambda);
  const std::vector<Index> set = support(at, w);
  if (static_cast<Index>(set.size()) > kMaxCholesky && !solves_in_row_space(at, set))
    return BilevelProblem::hessian_solve(w, lambda, b, options, x);
  Matrix right = b;
  Matrix left = x;
  const LinearReport report = hessian_solve_many(w, lambda, right, options, left);
  x = left;
  return report;
}

Matrix SparseProblem::hessian_on(const SparsePenaltyAt& at, const Vector& w, const std::vector<Index>& set,
                                 Work& work) const {
  const DataTerm data = train_term(linear_);
  Matrix h;
  if (std::optional<Matrix> known = known_hessian(set)) {
    h = std::move(*known);
  } else {
    Vector m, state;
    data.margins(w, m);
    data.state_at(m, state);
    h = data.hessian_on(state, set);
    work.factorisations += 0.5 + data.hessian_on_flops(set.size()) / gradient_flops();
  }
  const Vector c = squares(at);
  for (std::size_t i = 0; i < set.size(); ++i) h(static_cast<Index>(i), static_cast<Index>(i)) += c[set[i]];
  at.add_curvature_on(w, set, h);
  hold_shifts(data, at, c, w, set, h);
  return h;
}

LinearReport SparseProblem::hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                               const LinearOptions& options, Matrix& x) const {
  require_sizes(*this, w, lambda);
  const SparsePenaltyAt at = penalty_.at(lambda);
  const std::vector<Index> set = support(at, w);
  if (solves_in_row_space(at, set)) return row_space_solve_many(w, squares(at), set, b, options, x);
  if (static_cast<Index>(set.size()) > kMaxCholesky)
    return BilevelProblem::hessian_solve_many(w, lambda, b, options, x);
  LinearReport report;
  report.converged = true;
  x = b;
  if (set.empty()) return report;
  const Matrix h = hessian_on(at, w, set, report.work);
  const Eigen::MatrixXd right = b(set, Eigen::all);
  Eigen::MatrixXd solution = right;
  const auto size = static_cast<double>(set.size());
  report.work.factorisations += solve_semidefinite(h, solution) * size * size * size / 3.0 / gradient_flops();
  x(set, Eigen::all) = solution;
  report.residual_norm = (right - h * solution).colwise().norm().maxCoeff();
  report.converged = report.residual_norm <= options.tolerance * b.colwise().norm().maxCoeff();
  return report;
}

bool SparseProblem::solves_in_row_space(const SparsePenaltyAt& at, const std::vector<Index>& set) const {
  return loss().outputs() == 1 && !at.has_groups() &&
         RowSpaceSystem::suits(train_term(linear_), squares(at), set.size());
}

LinearReport SparseProblem::row_space_solve_many(const Vector& w, const Vector& c,
                                                 const std::vector<Index>& set, const Matrix& b,
                                                 const LinearOptions& options, Matrix& x) const {
  const DataTerm data = train_term(linear_);
  Vector m, state, solution;
  data.margins(w, m);
  data.state_at(m, state);
  RowSpaceSystem system(data, state, c);
  system.factor(set);
  LinearReport report;
  x = b;
  for (Index k = 0; k < b.cols(); ++k) {
    report.residual_norm = std::max(report.residual_norm, system.solve(b.col(k), solution));
    for (const Index j : set) x(j, k) = solution[j];
  }
  report.converged = report.residual_norm <= options.tolerance * b.colwise().norm().maxCoeff();
  report.work.factorisations = 0.5 + system.flops() / gradient_flops();
  return report;
}

bool SparseProblem::one_sided_slopes(const Vector& w, const Vector& lambda, const Matrix& directions,
                                     double reach, Vector& slopes) const {
  require_sizes(*this, w, lambda);
  const SparsePenaltyAt at = penalty_.at(lambda);
  const std::vector<Index> set = support(at, w);
  if (static_cast<Index>(set.size()) > kMaxCholesky)
    return BilevelProblem::one_sided_slopes(w, lambda, directions, reach, slopes);
  Work work;
  Vector g(weights()), outer(weights());
  linear_.train_gradient(w, no_penalty(), g);
  g += squares(at).cwiseProduct(w);
  linear_.validation_gradient(w, lambda, outer);
  const auto hessian = [&](const Vector& from, const std::vector<Index>& on) {
    return hessian_on(at, from, on, work);
  };
  return sparse_one_sided_slopes({penalty_, at, lambda, w, set, g, outer, hessian, reach}, directions,
                                 slopes);
}

std::shared_ptr<const ExactCurve> SparseProblem::exact_curve(const Vector& lambda, Index j,
                                                             const StopToken* stop, double least) const {
  require_lambda(*this, lambda);
  if (!curves_) return nullptr;
  if (j == kAllTogether) return is_l1_of_all(penalty_) ? curves_->curve(0.0, stop, least) : nullptr;
  if (j != 0 || !penalty_.is_plain()) return nullptr;
  return curves_->curve(penalty_.l2() ? 2.0 * std::exp(lambda[1]) : 0.0, stop, least);
}

void SparseProblem::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  out.setOnes(hyperparameters());
  const DataTerm data = train_term(linear_);
  Vector part = w;
  part.tail(intercepts()).setZero();
  if (part.isZero(0.0)) return;
  Vector m, state, curvature, terms, square;
  data.margins(w, m);
  data.state_at(m, state);
  if (penalty_.is_plain()) {
    curvature = Vector::Constant(hyperparameters(), data.curvature_along(state, part));
  } else {
    Vector diagonal;
    data.hessian_diagonal_at(state, diagonal);
    penalty_.sum_by_lambda(diagonal.cwiseProduct(part.cwiseAbs2()), curvature);
  }
  penalty_.terms(w, lambda, terms);
  penalty_.sum_by_lambda(part.cwiseAbs2(), square);
  for (Index k = 0; k < hyperparameters(); ++k) {
    if (!(square[k] > 0.0)) continue;
    if (k >= penalty_.first_l2_lambda()) {
      out[k] = certificate_scale_of(curvature[k] / square[k], std::exp(lambda[k]));
    } else if (const double ratio = curvature[k] / terms[k]; std::isfinite(ratio)) {
      out[k] = std::max(1.0, ratio);
    }
  }
}

bool SparseProblem::solves_at_once() const {
  const auto n = static_cast<double>(split().train.rows());
  const auto d = static_cast<double>(penalised());
  return !penalty_.l2() && loss().is_quadratic() && n * d * std::min(n, d) <= kInstantFlops;
}

Vector SparseProblem::largest_slopes() const {
  const DataTerm data = train_term(linear_);
  const Design& x = split().train.x;
  Vector zero = Vector::Zero(weights());
  linear_.fit_intercept(zero);
  Vector m, r;
  data.margins(zero, m);
  data.slopes_at(m, r);
  linalg::gather_rows(x.rows(), loss().outputs(), r.data());
  Vector sums = Vector::Zero(x.cols()), squares_of_columns = Vector::Zero(x.cols());
  const Vector one = Vector::Ones(x.rows());
  x.add_transposed(as_span(one), as_span(sums));
  x.add_transposed_squares(as_span(one), as_span(squares_of_columns));
  if (intercepts() > 0) squares_of_columns -= sums.cwiseAbs2() / static_cast<double>(x.rows());
  Vector largest(penalised());
  for (Index j = 0; j < penalised(); ++j)
    largest[j] = std::sqrt(std::max(squares_of_columns[j / loss().outputs()], 0.0)) * r.norm();
  return largest;
}

Bounds SparseProblem::bounds_of_lambda(double largest_curvature) const {
  Bounds bounds{Vector(hyperparameters()), Vector(hyperparameters())};
  const double slope = largest_slope_ > 0.0 ? largest_slope_ : 1.0;
  // A column of a smaller scale enters at an e^λ₁ smaller by as much.
  const Bounds columns = linear_.column_curvatures();
  const double spread = columns.high[0] > 0.0 ? std::log(columns.high[0] / columns.low[0]) : 0.0;
  // Where one λ is common to all weights, the λ at which they become 0 is known. Where there are several, it
  // depends on the others, and only its largest possible value is known.
  Vector shared(hyperparameters()), own(hyperparameters());
  const Index groups = penalty_.first_group_lambda(), squares = penalty_.first_l2_lambda();
  penalty_.highest(gradient_at_zero_, shared);
  if (groups > 1 || squares > groups + 1) penalty_.highest(largest_slopes(), own);
  const auto bound = [&](Index begin, Index count, bool is_shared) {
    const double zero = shared.segment(begin, count).maxCoeff();
    const double reached = std::isfinite(zero) ? zero : std::log(slope);
    const double most = is_shared ? reached : std::max(own.segment(begin, count).maxCoeff(), reached);
    bounds.high.segment(begin, count).setConstant(std::log(kJustBelow) + most);
    bounds.low.segment(begin, count).setConstant(reached - kUnitsBelow - 0.5 * spread);
  };
  if (groups > 0) bound(0, groups, groups == 1);
  if (squares > groups) bound(groups, squares - groups, squares == groups + 1);
  const double curvature = largest_curvature > 0.0 ? largest_curvature : 1.0;
  for (Index k = penalty_.first_l2_lambda(); k < hyperparameters(); ++k) {
    bounds.low[k] = std::log(kLeastPenaltyShare * curvature) - spread;
    bounds.high[k] = std::log(kMostPenaltyShare * curvature);
  }
  return bounds;
}

}  // namespace yosida
