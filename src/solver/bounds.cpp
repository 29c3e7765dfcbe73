#include "yosida/solver/bounds.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "problem/penalty_range.hpp"
#include "solver/one_lambda.hpp"

namespace yosida {
namespace {

/// The lower bound on a penalty where inner problems do not factor cheaply, as a share of the least curvature
/// that a weight has.
constexpr double kLeastOfLeast = 1e-6;
constexpr double kLeastLambda = -600.0;  // e^λ and its square root are far from underflow
constexpr int kPowerIterations = 8;      // from the gradient, which points there: good to a few per cent

}  // namespace

double largest_curvature(const BilevelProblem& problem) {
  if (const auto known = problem.largest_curvature()) return *known;
  // The largest curvature by power iteration, unpenalised: e^{−∞} = 0.
  const Vector unpenalised =
      Vector::Constant(problem.hyperparameters(), -std::numeric_limits<double>::infinity());
  Vector w = Vector::Zero(problem.weights());
  problem.fit_intercept(w);
  Vector direction(problem.weights());
  Vector product(problem.weights());
  // With intercepts: of L_T with these refitted, the Schur complement of their columns.
  const Index intercepts = problem.intercepts();
  const Index penalised = problem.weights() - intercepts;
  Matrix columns(problem.weights(), intercepts);
  for (Index k = 0; k < intercepts; ++k) {
    problem.hessian_product(w, unpenalised, Vector::Unit(problem.weights(), penalised + k), product);
    columns.col(k) = product;
  }
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> refit;  // softmax's corner is singular
  if (intercepts > 0) refit.compute(columns.bottomRows(intercepts));
  problem.train_gradient(w, unpenalised, direction);
  double curvature = 0.0;
  for (int iteration = 0; iteration < kPowerIterations; ++iteration) {
    drop_intercept(problem, direction);
    if (!(direction.norm() > 0.0)) break;
    direction.normalize();
    problem.hessian_product(w, unpenalised, direction, product);
    if (intercepts > 0) product -= columns * refit.solve(product.tail(intercepts));
    curvature = std::max(curvature, direction.dot(product));
    direction.swap(product);
  }
  return curvature;
}

namespace {

Bounds bounds_of(const BilevelProblem& problem) {
  if (const auto own = problem.own_bounds()) return *own;
  double largest = largest_curvature(problem);
  if (!(largest > 0.0)) largest = 1.0;
  const Index count = problem.hyperparameters();
  Bounds bounds{Vector::Constant(count, std::log(kLeastPenaltyShare * largest)),
                Vector::Constant(count, std::log(kMostPenaltyShare * largest))};
  if (const auto least = problem.least_curvatures()) {
    const double share = problem.factors_cheaply() ? kLeastPenaltyShare : kLeastOfLeast;
    for (Index j = 0; j < count; ++j)
      if (const double own = (*least)[j]; own > 0.0 && std::isfinite(own))
        bounds.low[j] = std::max(std::min(bounds.low[j], std::log(share * own)), kLeastLambda);
  }
  return bounds;
}

}  // namespace

Start with_bounds(const BilevelProblem& problem, Start start) {
  if (start.is_bounded()) return start;
  const Bounds bounds = bounds_of(problem);
  start.low = start.lambda.cwiseMin(bounds.low);
  start.high = start.lambda.cwiseMax(bounds.high);
  return start;
}

LambdaBounds default_bounds(const BilevelProblem& problem, double lambda0) {
  const Start start = with_bounds(problem, {.lambda = Vector::Constant(problem.hyperparameters(), lambda0)});
  return {.low = start.low[0], .high = start.high[0]};
}

}  // namespace yosida
