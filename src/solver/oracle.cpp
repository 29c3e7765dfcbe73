#include "yosida/solver/oracle.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "linalg/power_iteration.hpp"
#include "solver/one_lambda.hpp"

namespace yosida {
namespace {

/// Points a unit of λ: a valley of h narrower than this has not been seen; polishing does the rest.
constexpr double kPointsPerUnit = 8.0;
constexpr double kPromising = 1.05;  // valleys up to 5 % above the lowest are polished
/// Bounds on a penalty: shares of the largest curvature, and of the least one that a weight has.
constexpr double kLeastOfLargest = 1e-12;
constexpr double kMostOfLargest = 10.0;
constexpr double kLeastOfLeast = 1e-6;
constexpr double kLeastLambda = -600.0;  // e^λ and its square root are far from underflow
constexpr double kToEitherSide = 10.0;   // of a start, where neither data nor problem say how far λ may go
constexpr int kPowerIterations = 8;      // from the gradient, which points there: good to a few per cent

class Path {
 public:
  explicit Path(const BilevelProblem& problem) : problem_(problem), w_(starting_weights(problem)) {}
  double operator()(double lambda) {
    lambda_[0] = lambda;
    if (!problem_.inner_solve(lambda_, {}, w_).converged) ++inexact_solves_;
    const double value = problem_.validation_loss(w_, lambda_);
    return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
  }
  std::int64_t inexact_solves() const { return inexact_solves_; }

 private:
  const BilevelProblem& problem_;
  std::int64_t inexact_solves_ = 0;
  Vector w_;
  Vector lambda_{1};
};

/// Golden section on [a, b] around an interior lower point; keeps the best point it has seen.
void polish(Path& path, double a, double b, Oracle& best) {
  constexpr double kGolden = 0.6180339887498949;
  const auto value = [&](double lambda) {
    const double loss = path(lambda);
    if (loss < best.validation) {
      best.validation = loss;
      best.lambda = lambda;
    }
    return loss;
  };
  double c = b - kGolden * (b - a);
  double d = a + kGolden * (b - a);
  double f_c = value(c);
  double f_d = value(d);
  while (b - a > 1e-9) {  // h is flat to second order at its minimum: its own error is then 1e-18
    if (f_c < f_d) {
      b = d;
      d = c;
      f_d = f_c;
      c = b - kGolden * (b - a);
      f_c = value(c);
    } else {
      a = c;
      c = d;
      f_c = f_d;
      d = a + kGolden * (b - a);
      f_d = value(d);
    }
  }
}

}  // namespace

Oracle find_oracle(const BilevelProblem& problem, double low, double high) {
  require_one_lambda(problem, "the oracle");
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high))
    throw InputError("bounds = " + std::to_string(low) + "," + std::to_string(high) +
                     ": the oracle needs two finite numbers, the lower first");
  Path path(problem);
  const auto count = static_cast<std::size_t>(std::ceil((high - low) * kPointsPerUnit)) + 1;
  std::vector<double> lambda(count);
  std::vector<double> value(count);
  Oracle best{
      .lambda = high, .validation = std::numeric_limits<double>::infinity(), .low = low, .high = high};
  for (std::size_t i = 0; i < count; ++i) {
    lambda[i] = high - (high - low) * static_cast<double>(i) / static_cast<double>(count - 1);
    value[i] = path(lambda[i]);
    if (value[i] < best.validation) {
      best.validation = value[i];
      best.lambda = lambda[i];
    }
  }
  const double promising = kPromising * best.validation;
  for (std::size_t i = 0; i < count; ++i) {
    const bool below_left = i == 0 || value[i] <= value[i - 1];
    const bool below_right = i + 1 == count || value[i] <= value[i + 1];
    if (below_left && below_right && value[i] <= promising)
      polish(path, lambda[std::min(i + 1, count - 1)], lambda[i == 0 ? 0 : i - 1], best);
  }
  best.inexact_solves = path.inexact_solves();
  return best;
}

double validation_at(const BilevelProblem& problem, double lambda) {
  require_one_lambda(problem, "validation_at");
  return Path(problem)(lambda);
}

double largest_curvature(const BilevelProblem& problem, const Vector& lambda) {
  if (const auto known = problem.traits().largest_curvature) return *known;
  // The largest curvature by power iteration, unpenalised: e^{−∞} = 0.
  const Vector unpenalised = without_penalties(problem, lambda);
  const Vector w = starting_weights(problem);
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
  drop_intercept(problem, direction);
  const auto refitted_product = [&](const Vector& p, Vector& out) {
    problem.hessian_product(w, unpenalised, p, out);
    if (intercepts > 0) out -= columns * refit.solve(out.tail(intercepts));
    drop_intercept(problem, out);
  };
  return power_iteration(refitted_product, kPowerIterations, direction, product).rayleigh;
}

namespace {

Bounds bounds_of(const BilevelProblem& problem, const Vector& lambda) {
  if (const auto& own = problem.traits().bounds) return *own;
  if (!problem.traits().has_penalties)
    return {lambda.array() - kToEitherSide, lambda.array() + kToEitherSide};
  double largest = largest_curvature(problem, lambda);
  if (!(largest > 0.0)) largest = 1.0;
  const Index count = problem.hyperparameters();
  Bounds bounds{Vector::Constant(count, std::log(kLeastOfLargest * largest)),
                Vector::Constant(count, std::log(kMostOfLargest * largest))};
  if (const auto least = problem.least_curvatures()) {
    const double share = problem.traits().factors_cheaply ? kLeastOfLargest : kLeastOfLeast;
    for (Index j = 0; j < count; ++j)
      if (const double own = (*least)[j]; own > 0.0 && std::isfinite(own))
        bounds.low[j] = std::max(std::min(bounds.low[j], std::log(share * own)), kLeastLambda);
  }
  return bounds;
}

}  // namespace

Start with_bounds(const BilevelProblem& problem, Start start) {
  if (start.is_bounded()) return start;
  if (start.lambda.size() != problem.hyperparameters())
    throw InputError("lambda0 has " + std::to_string(start.lambda.size()) + " values: the problem has " +
                     std::to_string(problem.hyperparameters()) + " hyperparameters");
  const Bounds bounds = bounds_of(problem, start.lambda);
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

LambdaBounds default_bounds(const BilevelProblem& problem, double lambda0) {
  const Start start = with_bounds(problem, {.lambda = Vector::Constant(problem.hyperparameters(), lambda0)});
  return {.low = start.low[0], .high = start.high[0]};
}

}  // namespace yosida
