#include "yosida/problem/elastic_net_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/factor.hpp"
#include "linalg/power_iteration.hpp"
#include "problem/l1_newton.hpp"
#include "problem/l1_quadratic.hpp"
#include "problem/lasso_curve.hpp"
#include "problem/newton.hpp"
#include "problem/penalty_range.hpp"
#include "problem/row_space_system.hpp"
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
/// Weights come and go one by one: h has a kink at each and valleys between.
constexpr double kWidthOfKinks = 0.1;

const Vector& no_penalty() {
  static const Vector value = Vector::Constant(1, -std::numeric_limits<double>::infinity());
  return value;
}

SharedLoss of_one_output(SharedLoss loss) {
  if (loss->outputs() > 1)
    throw InputError("loss = " + std::string(loss->name()) +
                     ": has several outputs; an l1 penalty needs one of one output");
  return loss;
}

DataTerm train_term(const LinearProblem& linear) {
  return {linear.split().train, linear.loss(), linear.intercepts() > 0};
}

}  // namespace

ElasticNetProblem::ElasticNetProblem(Split split, SharedLoss loss, bool intercept, Kind kind)
    : linear_(std::move(split), of_one_output(std::move(loss)), intercept), kind_(kind) {
  Vector zero = Vector::Zero(weights());
  Vector g(weights());
  linear_.fit_intercept(zero);
  linear_.train_gradient(zero, no_penalty(), g);
  gradient_at_zero_ = g;
  largest_slope_ = g.head(penalised()).lpNorm<Eigen::Infinity>();
  // By power iteration from the gradient, which points there: good to a few per cent. With an intercept, of
  // the data term with it refitted: the Schur complement of its column.
  Vector scratch;
  Vector column = Vector::Zero(weights());
  if (intercept) linear_.hessian_product(zero, no_penalty(), Vector::Unit(weights(), penalised()), column);
  const auto refitted_product = [&](const Vector& p, Vector& out) {
    linear_.hessian_product(zero, no_penalty(), p, out);
    if (intercept && column[penalised()] > 0.0) out -= column * (out[penalised()] / column[penalised()]);
    out.tail(intercepts()).setZero();
  };
  g.tail(intercepts()).setZero();
  const double largest_curvature = power_iteration(refitted_product, kPowerIterations, g, scratch).rayleigh;
  traits_.has_penalties = true;
  traits_.ones = linear_.traits().ones;
  traits_.has_train_gradient_lambda = true;
  traits_.bounds = bounds_of_lambda(largest_curvature);
  traits_.feature_width = kWidthOfKinks;
  traits_.factors_cheaply = solves_at_once();
  traits_.largest_curvature = largest_curvature;
  traits_.certificate_work.hessian_products = 1;
  traits_.intercept_work = linear_.traits().intercept_work;
  traits_.setup_work = 1.0 + kPowerIterations + (intercept ? 1.0 : 0.0);
  if (this->loss().is_quadratic())
    curves_ = std::make_unique<LassoCurves>(linear_.split(), intercept, gradient_flops());
}

ElasticNetProblem::~ElasticNetProblem() = default;

double ElasticNetProblem::l1(const Vector& lambda) const { return std::exp(lambda[0]); }

double ElasticNetProblem::l2(const Vector& lambda) const {
  return kind_ == Kind::lasso ? no_penalty()[0] : lambda[1];
}

double ElasticNetProblem::gradient_flops() const { return 2.0 * split().train.x.product_flops(); }

std::vector<Index> ElasticNetProblem::support(const Vector& w) const {
  std::vector<Index> set;
  for (Index j = 0; j < weights(); ++j)
    if (w[j] != 0.0 || j >= penalised()) set.push_back(j);
  return set;
}

double ElasticNetProblem::train_loss(const Vector& w, const Vector& lambda) const {
  require_sizes(*this, w, lambda);
  thread_local Vector second(1);
  second[0] = l2(lambda);
  return linear_.train_loss(w, second) + l1(lambda) * w.head(penalised()).lpNorm<1>();
}

void ElasticNetProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  require_sizes(*this, w, lambda);
  g.resize(weights());
  thread_local Vector second(1);
  second[0] = l2(lambda);
  linear_.train_gradient(w, second, g);
  smallest_subgradient(w, l1(lambda), penalised(), g);
}

void ElasticNetProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                        Vector& out) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  out.resize(weights());
  thread_local Vector on_support, second(1);
  second[0] = l2(lambda);
  on_support = p;
  for (Index j = 0; j < penalised(); ++j)
    if (w[j] == 0.0) on_support[j] = 0.0;
  linear_.hessian_product(w, second, on_support, out);
  for (Index j = 0; j < penalised(); ++j)
    if (w[j] == 0.0) out[j] = p[j];
}

void ElasticNetProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q,
                                      Vector& out) const {
  require_sizes(*this, w, lambda);
  require_lambda(*this, q);
  out.resize(weights());
  const double first = l1(lambda) * q[0];
  const double second = kind_ == Kind::lasso ? 0.0 : 2.0 * std::exp(lambda[1]) * q[1];
  for (Index j = 0; j < penalised(); ++j)
    out[j] = w[j] == 0.0 ? 0.0 : (w[j] > 0.0 ? first : -first) + second * w[j];
  out.tail(intercepts()).setZero();
}

void ElasticNetProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                                 Vector& out) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, p);
  out.resize(hyperparameters());
  double signs = 0.0;
  for (Index j = 0; j < penalised(); ++j)
    if (w[j] != 0.0) signs += w[j] > 0.0 ? p[j] : -p[j];
  out[0] = l1(lambda) * signs;
  if (kind_ == Kind::elastic_net)
    out[1] = 2.0 * std::exp(lambda[1]) * w.head(penalised()).dot(p.head(penalised()));
}

void ElasticNetProblem::train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  out.resize(hyperparameters());
  out[0] = l1(lambda) * w.head(penalised()).lpNorm<1>();
  if (kind_ == Kind::elastic_net) out[1] = std::exp(lambda[1]) * w.head(penalised()).squaredNorm();
}

const Matrix* ElasticNetProblem::kept_hessian() const {
  const Design& x = split().train.x;
  if (!curves_ || x.cols() > kMaxCholesky || x.rows() < x.cols()) return nullptr;
  std::call_once(hessian_once_, [&] { hessian_ = curves_->hessian(); });
  return &hessian_;
}

InnerReport ElasticNetProblem::inner_solve(const Vector& lambda, const InnerOptions& options,
                                           Vector& w) const {
  require_sizes(*this, w, lambda);
  const double penalty = std::exp(l2(lambda));
  Vector c = 2.0 * penalty * traits_.ones;
  Vector linear = Vector::Zero(weights());
  add_proximal(options.proximal, traits_.ones, c, linear);
  const Vector units = column_units(linear_.units(), weights());
  const double size =
      std::max(gradient_at_zero_.cwiseProduct(units).norm(), linear.cwiseProduct(units).norm());
  // A subgradient is small beside e^λ₁ alone: one of that size leaves weights out that belong in.
  const double threshold = l1(lambda) * units.head(penalised()).minCoeff();
  const double relative = std::max(options.tolerance * std::min(size, threshold),
                                   std::clamp(options.tolerance, kRounding, kTight) * size);
  Vector turn(weights());
  cross_product(w, lambda, Vector::Ones(hyperparameters()), turn);
  const double tolerance = std::max(relative, kPermitted * options.blur * turn.cwiseProduct(units).norm());
  bool is_kept = false;
  const auto hessian = [&] {
    const Matrix* kept = kept_hessian();
    is_kept = kept != nullptr;
    return kept;
  };
  const DataTerm data = train_term(linear_);
  InnerReport report = l1_newton({data, c, linear, l1(lambda), tolerance, options.max_count, gradient_flops(),
                                  hessian, units, options.stop},
                                 w);
  if (is_kept) report.setup = data.hessian_on_flops(static_cast<std::size_t>(weights())) / gradient_flops();
  return report;
}

LinearReport ElasticNetProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                              const LinearOptions& options, Vector& x) const {
  require_sizes(*this, w, lambda);
  require_weights(*this, b);
  require_weights(*this, x);
  const std::vector<Index> set = support(w);
  if (static_cast<Index>(set.size()) > kMaxCholesky && !solves_in_row_space(lambda, set))
    return BilevelProblem::hessian_solve(w, lambda, b, options, x);
  Matrix right = b;
  Matrix left = x;
  const LinearReport report = hessian_solve_many(w, lambda, right, options, left);
  x = left;
  return report;
}

LinearReport ElasticNetProblem::hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                                   const LinearOptions& options, Matrix& x) const {
  require_sizes(*this, w, lambda);
  const std::vector<Index> set = support(w);
  if (solves_in_row_space(lambda, set)) return row_space_solve_many(w, lambda, set, b, options, x);
  if (static_cast<Index>(set.size()) > kMaxCholesky)
    return BilevelProblem::hessian_solve_many(w, lambda, b, options, x);
  LinearReport report;
  report.converged = true;
  x = b;
  if (set.empty()) return report;
  const DataTerm data = train_term(linear_);
  Matrix h;
  if (const Matrix* kept = kept_hessian()) {
    h = (*kept)(set, set);
  } else {
    Vector m, state;
    data.margins(w, m);
    data.state_at(m, state);
    h = data.hessian_on(state, set);
    report.work.factorisations = 0.5 + data.hessian_on_flops(set.size()) / gradient_flops();
  }
  const double penalty = 2.0 * std::exp(l2(lambda));
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set[i] < penalised()) h(static_cast<Index>(i), static_cast<Index>(i)) += penalty;
  const Eigen::MatrixXd right = b(set, Eigen::all);
  Eigen::MatrixXd solution = right;
  const auto size = static_cast<double>(set.size());
  report.work.factorisations += solve_semidefinite(h, solution) * size * size * size / 3.0 / gradient_flops();
  x(set, Eigen::all) = solution;
  report.residual_norm = (right - h * solution).colwise().norm().maxCoeff();
  report.converged = report.residual_norm <= options.tolerance * b.colwise().norm().maxCoeff();
  return report;
}

bool ElasticNetProblem::solves_in_row_space(const Vector& lambda, const std::vector<Index>& set) const {
  const Vector c = 2.0 * std::exp(l2(lambda)) * traits_.ones;
  return RowSpaceSystem::suits(train_term(linear_), c, set.size());
}

LinearReport ElasticNetProblem::row_space_solve_many(const Vector& w, const Vector& lambda,
                                                     const std::vector<Index>& set, const Matrix& b,
                                                     const LinearOptions& options, Matrix& x) const {
  const DataTerm data = train_term(linear_);
  const Vector c = 2.0 * std::exp(l2(lambda)) * traits_.ones;
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

std::shared_ptr<const ExactCurve> ElasticNetProblem::exact_curve(const Vector& lambda, Index j,
                                                                 const StopToken* stop) const {
  require_lambda(*this, lambda);
  if (!curves_ || j != 0) return nullptr;
  return curves_->curve(2.0 * std::exp(l2(lambda)), stop);
}

void ElasticNetProblem::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  require_sizes(*this, w, lambda);
  out.resize(hyperparameters());
  const DataTerm data = train_term(linear_);
  Vector part = w;
  part.tail(intercepts()).setZero();
  out.setOnes();
  if (part.isZero(0.0)) return;
  Vector m, state;
  data.margins(w, m);
  data.state_at(m, state);
  const double curvature = data.curvature_along(state, part);
  const double ratio = curvature / (l1(lambda) * part.lpNorm<1>());
  if (std::isfinite(ratio)) out[0] = std::max(1.0, ratio);
  if (kind_ == Kind::elastic_net)
    out[1] = certificate_scale_of(curvature / part.squaredNorm(), std::exp(lambda[1]));
}

bool ElasticNetProblem::solves_at_once() const {
  const auto n = static_cast<double>(split().train.rows());
  const auto d = static_cast<double>(penalised());
  return kind_ == Kind::lasso && loss().is_quadratic() && n * d * std::min(n, d) <= kInstantFlops;
}

Bounds ElasticNetProblem::bounds_of_lambda(double largest_curvature) const {
  Bounds bounds{Vector(hyperparameters()), Vector(hyperparameters())};
  const double slope = largest_slope_ > 0.0 ? largest_slope_ : 1.0;
  bounds.high[0] = std::log(kJustBelow * slope);
  // A column of a smaller scale enters at an e^λ₁ smaller by as much.
  const Bounds columns = linear_.column_curvatures();
  const double spread = columns.high[0] > 0.0 ? std::log(columns.high[0] / columns.low[0]) : 0.0;
  bounds.low[0] = std::log(slope) - kUnitsBelow - 0.5 * spread;
  if (kind_ == Kind::elastic_net) {
    const double curvature = largest_curvature > 0.0 ? largest_curvature : 1.0;
    bounds.low[1] = std::log(kLeastPenaltyShare * curvature) - spread;
    bounds.high[1] = std::log(kMostPenaltyShare * curvature);
  }
  return bounds;
}

}  // namespace yosida
