#include "yosida/problem/elastic_net_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problem/l1_newton.hpp"
#include "problem/l1_quadratic.hpp"
#include "problem/newton.hpp"
#include "problem/penalty_range.hpp"
#include "problem/row_space_system.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/factor.hpp"

namespace yosida {
namespace {

/// e^λ₁ goes down to e^−14 of the smallest that leaves w = 0: a millionth. It ends just before that one,
/// where the first weight is in the support already: at w = 0 itself there is no slope to tell a solver to go
/// on.
constexpr double kUnitsBelow = 14.0;
constexpr double kJustBelow = 0.999;
/// Of the gradient at 0: no inner solve is asked for more than rounding allows.
constexpr double kRounding = 1e-14;
/// Beyond this, relative to the gradient at 0, a solve is tight whatever e^λ₁ is.
constexpr double kTight = 1e-11;
/// The share of a blur that is made use of. Getting there costs little; support and L_V of a solve as coarse
/// as solvers permit (a tenth of the penalty's own slope) are another λ's.
constexpr double kPermitted = 0.1;
constexpr int kPowerIterations = 8;

const Vector& no_penalty() {
  static const Vector value = Vector::Constant(1, -std::numeric_limits<double>::infinity());
  return value;
}

const Loss& of_one_output(const Loss& loss) {
  if (loss.outputs() > 1)
    throw InputError("loss = " + std::string(loss.name()) +
                     ": has several outputs; an l1 penalty needs one of one output");
  return loss;
}

DataTerm train_term(const LinearProblem& linear) {
  return {linear.split().train, linear.loss(), linear.intercepts() > 0};
}

}  // namespace

ElasticNetProblem::ElasticNetProblem(Split split, const Loss& loss, bool intercept, Kind kind)
    : linear_(std::move(split), of_one_output(loss), intercept), kind_(kind) {
  Vector zero = Vector::Zero(weights());
  Vector g(weights());
  linear_.fit_intercept(zero);
  linear_.train_gradient(zero, no_penalty(), g);
  gradient_at_zero_ = g;
  largest_slope_ = g.head(penalised()).lpNorm<Eigen::Infinity>();
  // By power iteration from the gradient, which points there: good to a few per cent. With an intercept, of
  // the data term with it refitted: the Schur complement of its column.
  Vector product(weights());
  Vector column = Vector::Zero(weights());
  if (intercept) linear_.hessian_product(zero, no_penalty(), Vector::Unit(weights(), penalised()), column);
  for (int i = 0; i < kPowerIterations; ++i) {
    if (intercept) g[penalised()] = 0.0;
    if (!(g.norm() > 0.0)) break;
    g.normalize();
    linear_.hessian_product(zero, no_penalty(), g, product);
    if (intercept && column[penalised()] > 0.0)
      product -= column * (product[penalised()] / column[penalised()]);
    largest_curvature_ = std::max(largest_curvature_, g.dot(product));
    g.swap(product);
  }
  setup_work_ = 1.0 + kPowerIterations + (intercept ? 1.0 : 0.0);
}

double ElasticNetProblem::l1(const Vector& lambda) const { return std::exp(lambda[0]); }

const Vector& ElasticNetProblem::l2(const Vector& lambda) const {
  if (kind_ == Kind::lasso) return no_penalty();
  thread_local Vector value(1);
  value[0] = lambda[1];
  return value;
}

double ElasticNetProblem::gradient_flops() const { return 2.0 * split().train.x.product_flops(); }

std::vector<Index> ElasticNetProblem::support(const Vector& w) const {
  std::vector<Index> set;
  for (Index j = 0; j < weights(); ++j)
    if (w[j] != 0.0 || j >= penalised()) set.push_back(j);
  return set;
}

double ElasticNetProblem::train_loss(const Vector& w, const Vector& lambda) const {
  return linear_.train_loss(w, l2(lambda)) + l1(lambda) * w.head(penalised()).lpNorm<1>();
}

void ElasticNetProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  linear_.train_gradient(w, l2(lambda), g);
  smallest_subgradient(w, l1(lambda), penalised(), g);
}

void ElasticNetProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                        Vector& out) const {
  thread_local Vector on_support;
  on_support = p;
  for (Index j = 0; j < penalised(); ++j)
    if (w[j] == 0.0) on_support[j] = 0.0;
  linear_.hessian_product(w, l2(lambda), on_support, out);
  for (Index j = 0; j < penalised(); ++j)
    if (w[j] == 0.0) out[j] = p[j];
}

void ElasticNetProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q,
                                      Vector& out) const {
  const double first = l1(lambda) * q[0];
  const double second = kind_ == Kind::lasso ? 0.0 : 2.0 * std::exp(lambda[1]) * q[1];
  for (Index j = 0; j < penalised(); ++j)
    out[j] = w[j] == 0.0 ? 0.0 : (w[j] > 0.0 ? first : -first) + second * w[j];
  out.tail(intercepts()).setZero();
}

void ElasticNetProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                                 Vector& out) const {
  double signs = 0.0;
  for (Index j = 0; j < penalised(); ++j)
    if (w[j] != 0.0) signs += w[j] > 0.0 ? p[j] : -p[j];
  out[0] = l1(lambda) * signs;
  if (kind_ == Kind::elastic_net)
    out[1] = 2.0 * std::exp(lambda[1]) * w.head(penalised()).dot(p.head(penalised()));
}

const Matrix* ElasticNetProblem::kept_hessian() const {
  const Design& x = split().train.x;
  if (!loss().is_quadratic() || x.cols() > kMaxCholesky || x.rows() < x.cols()) return nullptr;
  std::call_once(hessian_once_, [&] {
    const DataTerm data = train_term(linear_);
    Vector m, state, h;
    data.margins(Vector::Zero(weights()), m);
    data.state_at(m, state);
    data.row_curvatures(state, h);
    Matrix hessian(weights(), weights());
    hessian.topLeftCorner(penalised(), penalised()) = x.weighted_gram(as_span(h));
    if (intercepts() > 0) {
      Vector border;
      data.gather(h, border);
      hessian.col(penalised()) = border;
      hessian.row(penalised()) = border.transpose();
    }
    hessian_ = std::move(hessian);
  });
  return &hessian_;
}

InnerReport ElasticNetProblem::inner_solve(const Vector& lambda, const InnerOptions& options,
                                           Vector& w) const {
  const double penalty = std::exp(l2(lambda)[0]);
  Vector c = 2.0 * penalty * ones();
  Vector linear = Vector::Zero(weights());
  if (options.proximal) {  // uᵀ(w − v) + ρ/2 ‖w − v‖² = ρ/2 ‖w‖² + (u − ρv)ᵀw + a constant
    c += options.proximal->rho * ones();
    linear = (options.proximal->u - options.proximal->rho * options.proximal->v).cwiseProduct(ones());
  }
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
  const Matrix* hessian = kept_hessian();
  const DataTerm data = train_term(linear_);
  InnerReport report = l1_newton(
      {data, c, linear, l1(lambda), tolerance, options.max_count, gradient_flops(), hessian, units}, w);
  if (hessian != nullptr)
    report.setup = hessian_on_work(data, static_cast<std::size_t>(weights()), gradient_flops());
  return report;
}

LinearReport ElasticNetProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                              const LinearOptions& options, Vector& x) const {
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
    h = hessian_on(data, state, set);
    report.work.factorisations = 0.5 + hessian_on_work(data, set.size(), gradient_flops());
  }
  const double penalty = 2.0 * std::exp(l2(lambda)[0]);
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
  const Vector c = 2.0 * std::exp(l2(lambda)[0]) * ones();
  return RowSpaceSystem::suits(train_term(linear_), c, set.size());
}

LinearReport ElasticNetProblem::row_space_solve_many(const Vector& w, const Vector& lambda,
                                                     const std::vector<Index>& set, const Matrix& b,
                                                     const LinearOptions& options, Matrix& x) const {
  const DataTerm data = train_term(linear_);
  const Vector c = 2.0 * std::exp(l2(lambda)[0]) * ones();
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

void ElasticNetProblem::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
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

bool ElasticNetProblem::factors_cheaply() const {
  const auto n = static_cast<double>(split().train.rows());
  const auto d = static_cast<double>(penalised());
  return kind_ == Kind::lasso && loss().is_quadratic() && n * d * std::min(n, d) <= kInstantFlops;
}

std::optional<Bounds> ElasticNetProblem::own_bounds() const {
  Bounds bounds{Vector(hyperparameters()), Vector(hyperparameters())};
  const double slope = largest_slope_ > 0.0 ? largest_slope_ : 1.0;
  bounds.high[0] = std::log(kJustBelow * slope);
  // A column of a smaller scale enters at an e^λ₁ smaller by as much.
  const Bounds columns = linear_.column_curvatures();
  const double spread = columns.high[0] > 0.0 ? std::log(columns.high[0] / columns.low[0]) : 0.0;
  bounds.low[0] = std::log(slope) - kUnitsBelow - 0.5 * spread;
  if (kind_ == Kind::elastic_net) {
    const double curvature = largest_curvature_ > 0.0 ? largest_curvature_ : 1.0;
    bounds.low[1] = std::log(kLeastPenaltyShare * curvature) - spread;
    bounds.high[1] = std::log(kMostPenaltyShare * curvature);
  }
  return bounds;
}

}  // namespace yosida
