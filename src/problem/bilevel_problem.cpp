#include "yosida/problem/bilevel_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "linalg/factor.hpp"
#include "problem/checked_problem.hpp"
#include "problem/newton_cg.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

/// ε^{1/3}, where the error of a central difference and rounding are about equal.
constexpr double kStep = 6.055454452393343e-06;

/// The step along p from a point of that size; 0 where p is 0.
double step_along(const Vector& p, double size) {
  const double length = p.norm();
  return length > 0.0 ? kStep * std::max(1.0, size) / length : 0.0;
}

/// d/dt f(t) at 0 of a problem's function `name` that writes a vector of the size of `out`; 0 where the step
/// is.
template <typename F>
void difference(const char* name, const F& f, double step, Vector& out) {
  if (step == 0.0) {
    out.setZero();
    return;
  }
  const Index size = out.size();
  Vector below(size);
  f(step, out);
  f(-step, below);
  require_returned(name, out, size);
  require_returned(name, below, size);
  out = (out - below) / (2.0 * step);
}

/// out_j = ∂f/∂λ_j of a number f.
template <typename F>
void partial_derivatives(const F& f, const Vector& lambda, Vector& out) {
  Vector moved = lambda;
  for (Index j = 0; j < lambda.size(); ++j) {
    const double step = kStep * std::max(1.0, std::abs(lambda[j]));
    moved[j] = lambda[j] + step;
    const double above = f(moved);
    moved[j] = lambda[j] - step;
    out[j] = (above - f(moved)) / (2.0 * step);
    moved[j] = lambda[j];
  }
}

}  // namespace

double certificate_scale_of(double kappa, double penalty) {
  if (!(kappa > 0.0) || !(penalty > 0.0)) return 1.0;
  return std::max(1.0, std::max(kappa / penalty, penalty / kappa));
}

Vector starting_weights(const BilevelProblem& problem) {
  const Vector& given = problem.traits().start;
  Vector w = given.size() > 0 ? given : Vector::Zero(problem.weights());
  if (w.size() != problem.weights())
    throw InputError("traits.start: has " + std::to_string(w.size()) + " numbers; the problem has " +
                     std::to_string(problem.weights()) + " weights");
  problem.fit_intercept(w);
  return w;
}

Vector without_penalties(const BilevelProblem& problem, const Vector& lambda) {
  if (!problem.traits().has_penalties) return lambda;
  return Vector::Constant(lambda.size(), -std::numeric_limits<double>::infinity());
}

void require_weights(const BilevelProblem& problem, const Vector& w) {
  if (w.size() != problem.weights())
    throw InputError("w: has " + std::to_string(w.size()) + " numbers; the problem has " +
                     std::to_string(problem.weights()) + " weights");
}

void require_lambda(const BilevelProblem& problem, const Vector& lambda) {
  if (lambda.size() != problem.hyperparameters())
    throw InputError("lambda: has " + std::to_string(lambda.size()) + " values; the problem has " +
                     std::to_string(problem.hyperparameters()) + " hyperparameters");
}

void require_sizes(const BilevelProblem& problem, const Vector& w, const Vector& lambda) {
  require_weights(problem, w);
  require_lambda(problem, lambda);
}

void BilevelProblem::train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  partial_derivatives([&](const Vector& at) { return train_loss(w, at); }, lambda, out);
}

void BilevelProblem::validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const {
  if (traits_.validation_depends_on_lambda) {
    partial_derivatives([&](const Vector& at) { return validation_loss(w, at); }, lambda, out);
  } else {
    out.setZero();
  }
}

void BilevelProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                     Vector& out) const {
  difference(
      "train_gradient", [&](double t, Vector& g) { train_gradient(w + t * p, lambda, g); },
      step_along(p, w.norm()), out);
}

void BilevelProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q,
                                   Vector& out) const {
  difference(
      "train_gradient", [&](double t, Vector& g) { train_gradient(w, lambda + t * q, g); },
      step_along(q, lambda.norm()), out);
}

void BilevelProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                              Vector& out) const {
  if (traits_.has_train_gradient_lambda) {
    difference(
        "train_gradient_lambda", [&](double t, Vector& g) { train_gradient_lambda(w + t * p, lambda, g); },
        step_along(p, w.norm()), out);
    return;
  }
  Vector column(weights());
  for (Index j = 0; j < lambda.size(); ++j) {
    cross_product(w, lambda, Vector::Unit(lambda.size(), j), column);
    require_returned("cross_product", column, w.size());
    out[j] = column.dot(p);
  }
}

void BilevelProblem::validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                                Vector& out) const {
  difference(
      "validation_gradient", [&](double t, Vector& g) { validation_gradient(w + t * p, lambda, g); },
      step_along(p, w.norm()), out);
}

void BilevelProblem::validation_curvature(const Vector& w, const Vector& lambda, const Matrix& phi1,
                                          Eigen::MatrixXd& out) const {
  const Index count = phi1.cols();
  Matrix turned(weights(), count);  // how ∇_w L_V turns along each column
  Vector column(weights());
  if (!traits_.validation_depends_on_lambda) {
    for (Index j = 0; j < count; ++j) {
      validation_hessian_product(w, lambda, phi1.col(j), column);
      require_returned("validation_hessian_product", column, w.size());
      turned.col(j) = column;
    }
    out = phi1.transpose() * turned;
    return;
  }
  Eigen::MatrixXd direct(count, count);
  Vector part(count);
  for (Index j = 0; j < count; ++j) {
    const Vector p = phi1.col(j);
    // The same step for both, so that they are derivatives along one line.
    const double step = kStep * std::max(1.0, std::min(w.norm(), lambda.norm())) / std::max(1.0, p.norm());
    const auto moved = [&](double t) { return Vector(lambda + t * Vector::Unit(count, j)); };
    difference(
        "validation_gradient", [&](double t, Vector& g) { validation_gradient(w + t * p, moved(t), g); },
        step, column);
    difference(
        "validation_gradient_lambda",
        [&](double t, Vector& g) { validation_gradient_lambda(w + t * p, moved(t), g); }, step, part);
    turned.col(j) = column;
    direct.col(j) = part;
  }
  out = phi1.transpose() * turned + direct;
  out = 0.5 * (out + out.transpose()).eval();
}

InnerReport BilevelProblem::inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const {
  require_sizes(*this, w, lambda);
  return newton_cg(CheckedProblem(*this), lambda, options, w);
}

LinearReport BilevelProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                           const LinearOptions& options, Vector& x) const {
  // Curvatures that are negative by less than this share of the largest are rounding.
  constexpr double kNoCurvature = 1e-8;
  constexpr double kMoreDamping = 4.0;
  const double tolerance = options.tolerance * b.norm();
  LinearReport report;
  const Vector start = x;
  for (;;) {
    const auto apply = [&](const Vector& p, Vector& out) {
      hessian_product(w, lambda, p, out);
      require_returned("hessian_product", out, p.size());
      if (report.damping > 0.0) out += report.damping * p;
    };
    const std::int64_t left = options.max_count - report.work.hessian_products;
    const CgReport cg = conjugate_gradients(
        apply, b, x, tolerance, std::min<std::int64_t>(left, 10 * weights()), {.stop = options.stop});
    report.work.hessian_products += cg.products;
    report.residual_norm = cg.residual_norm;
    const bool is_indefinite = cg.curvature < -kNoCurvature * cg.largest_curvature;
    if (!is_indefinite || cg.residual_norm <= tolerance || report.work.hessian_products >= options.max_count)
      break;
    report.damping = std::max(kMoreDamping * report.damping, -2.0 * (cg.curvature - report.damping));
    x = start;
  }
  if (report.damping > 0.0) {
    Vector product(b.size());
    hessian_product(w, lambda, x, product);
    ++report.work.hessian_products;
    report.residual_norm = (b - product).norm();
  }
  report.converged = report.damping == 0.0 && report.residual_norm <= tolerance;
  // The x that it began with, 0 say, would pass for a solution.
  if (!std::isfinite(report.residual_norm)) x.setConstant(std::numeric_limits<double>::quiet_NaN());
  return report;
}

LinearReport BilevelProblem::hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                                const LinearOptions& options, Matrix& x) const {
  LinearReport all;
  all.converged = true;
  LinearOptions left = options;
  Vector column(b.rows());
  for (Index j = 0; j < b.cols(); ++j) {
    column = x.col(j);
    const LinearReport each = hessian_solve(w, lambda, b.col(j), left, column);
    x.col(j) = column;
    all.work += each.work;
    all.converged &= each.converged;
    all.residual_norm = std::max(all.residual_norm, each.residual_norm);
    all.damping = std::max(all.damping, each.damping);
    left.max_count = std::max<std::int64_t>(options.max_count - all.work.paper_count(), 1);
  }
  return all;
}

void BilevelProblem::certificate_scale(const Vector&, const Vector&, Vector& out) const { out.setOnes(); }

CurvePoint BilevelProblem::closed_form(double lambda) const {
  CurvePoint point;
  closed_forms({&lambda, 1}, {&point, 1});
  return point;
}

bool BilevelProblem::one_sided_slopes(const Vector& w, const Vector& lambda, const Matrix& directions, double,
                                      Vector& slopes) const {
  Vector g(weights());
  Vector q = Vector::Zero(weights());
  Vector gradient(hyperparameters());
  validation_gradient(w, lambda, g);
  hessian_solve(w, lambda, g, {}, q);
  cross_product_transposed(w, lambda, q, gradient);
  gradient = -gradient;
  if (traits().validation_depends_on_lambda) {
    Vector direct(hyperparameters());
    validation_gradient_lambda(w, lambda, direct);
    gradient += direct;
  }
  slopes = directions.transpose() * gradient;
  return false;
}

void BilevelProblem::closed_forms(std::span<const double>, std::span<CurvePoint>) const {
  throw std::logic_error("closed_forms: this problem has none");
}

std::optional<double> BilevelProblem::largest_curvature(SolveMemory&, Work&) const { return {}; }

std::shared_ptr<const ExactCurve> BilevelProblem::exact_curve(const Vector&, Index, const StopToken*,
                                                              double) const {
  return nullptr;
}

Losses BilevelProblem::losses(const Vector& w, const Vector& lambda) const {
  return {.train = train_loss(w, lambda), .validation = validation_loss(w, lambda), .test = {}};
}

}  // namespace yosida
