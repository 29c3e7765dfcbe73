#include "yosida/solver/bounds.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/power_iteration.hpp"
#include "problem/penalty_range.hpp"
#include "solver/one_lambda.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

/// The lower bound on a penalty where inner problems do not factor cheaply, as a share of the least curvature
/// that a weight has.
constexpr double kLeastOfLeast = 1e-6;
constexpr double kLeastLambda = -600.0;  // e^λ and its square root are far from underflow
constexpr double kToEitherSide = 10.0;   // of a start, where neither data nor problem say how far λ may go
constexpr int kPowerIterations = 8;      // from the gradient, which points there: good to a few per cent

}  // namespace

double largest_curvature(const BilevelProblem& problem, const Vector& lambda, SolveMemory* memory) {
  if (const auto known = problem.traits().largest_curvature) return *known;
  Work work;
  if (memory != nullptr)
    if (const auto kept = problem.largest_curvature(*memory, work)) return *kept;
  // The largest curvature by power iteration, unpenalised: e^{−∞} = 0.
  const Vector unpenalised = without_penalties(problem, lambda);
  const Vector w = starting_weights(problem);
  Vector direction(problem.weights());
  Vector product(problem.weights());
  // With intercepts, L_T is that with these refitted: the Schur complement of their columns.
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
  drop_intercept(problem, direction);
  const auto refitted_product = [&](const Vector& p, Vector& out) {
    problem.hessian_product(w, unpenalised, p, out);
    if (intercepts > 0) out -= columns * refit.solve(out.tail(intercepts));
    drop_intercept(problem, out);
  };
  return power_iteration(refitted_product, kPowerIterations, direction, product).rayleigh;
}

namespace {

Bounds bounds_of(const BilevelProblem& problem, const Vector& lambda, SolveMemory* memory) {
  if (const auto& own = problem.traits().bounds) return *own;
  if (!problem.traits().has_penalties)
    return {lambda.array() - kToEitherSide, lambda.array() + kToEitherSide};
  double largest = largest_curvature(problem, lambda, memory);
  if (!(largest > 0.0)) largest = 1.0;
  const Index count = problem.hyperparameters();
  Bounds bounds{Vector::Constant(count, std::log(kLeastPenaltyShare * largest)),
                Vector::Constant(count, std::log(kMostPenaltyShare * largest))};
  if (const auto least = problem.least_curvatures()) {
    const double share = problem.traits().factors_cheaply ? kLeastPenaltyShare : kLeastOfLeast;
    for (Index j = 0; j < count; ++j)
      if (const double own = (*least)[j]; own > 0.0 && std::isfinite(own))
        bounds.low[j] = std::max(std::min(bounds.low[j], std::log(share * own)), kLeastLambda);
  }
  return bounds;
}

}  // namespace

Start with_bounds(const BilevelProblem& problem, Start start, SolveMemory* memory) {
  if (start.is_bounded()) return start;
  if (start.lambda.size() != problem.hyperparameters())
    throw InputError("lambda0 has " + std::to_string(start.lambda.size()) + " values: the problem has " +
                     std::to_string(problem.hyperparameters()) + " hyperparameters");
  const Bounds bounds = bounds_of(problem, start.lambda, memory);
  if (bounds.low.size() != start.lambda.size() || bounds.high.size() != start.lambda.size())
    throw InputError("traits.bounds: there are " + std::to_string(bounds.low.size()) + " lower and " +
                     std::to_string(bounds.high.size()) + " upper; the problem has " +
                     std::to_string(start.lambda.size()) + " hyperparameters");
  start.low = start.lambda.cwiseMin(bounds.low);
  start.high = start.lambda.cwiseMax(bounds.high);
  return start;
}

Vector default_start(const BilevelProblem& problem, double lambda0) {
  constexpr double kFromHigh = 0.3;
  if (const auto& own = problem.traits().bounds) return own->high + kFromHigh * (own->low - own->high);
  return Vector::Constant(problem.hyperparameters(), lambda0);
}

Interval default_bounds(const BilevelProblem& problem, double lambda0) {
  const Start start = with_bounds(problem, {.lambda = Vector::Constant(problem.hyperparameters(), lambda0)});
  return {.low = start.low[0], .high = start.high[0]};
}

}  // namespace yosida
