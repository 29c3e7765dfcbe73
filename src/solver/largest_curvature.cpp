#include "yosida/solver/largest_curvature.hpp"

#include <utility>

#include "linalg/power_iteration.hpp"

namespace yosida {

void CurvatureIteration::begin(const Vector& direction) { direction_ = product_ = direction; }

double CurvatureIteration::of(FunctionRef<void(const Vector&, Vector&)> hessian_product) {
  const int products = std::exchange(is_first_, false) ? kFirstProducts : kFurtherProducts;
  return power_iteration(hessian_product, products, direction_, product_).norm;
}

namespace {

/// Where the curvature of a loss of margins is largest. Intercepts are at 0 too.
Vector most_curved(const BilevelProblem& problem) {
  const Vector& given = problem.traits().start;
  return given.size() > 0 ? given : Vector::Zero(problem.weights());
}

}  // namespace

double train_curvature(const BilevelProblem& problem, const Vector& lambda, CurvatureIteration& curvature) {
  const Vector zero = most_curved(problem);
  if (!curvature.has_begun()) {
    Vector g(problem.weights());  // lies where the data does, whatever the coordinates
    problem.train_gradient(zero, lambda, g);
    curvature.begin(g);
  }
  return curvature.of([&](const Vector& p, Vector& out) { problem.hessian_product(zero, lambda, p, out); });
}

double Curvatures::train(const BilevelProblem& problem, const Vector& lambda) {
  constexpr double kFar = 0.5;
  if (lambda_.size() > 0 && (lambda - lambda_).cwiseAbs().maxCoeff() <= kFar) return train_;
  const Vector zero = most_curved(problem);
  if (!train_iteration_.has_begun()) {
    Vector g(problem.weights());
    problem.smooth_gradient(zero, lambda, g);
    train_iteration_.begin(g);
  }
  train_ = train_iteration_.of(
      [&](const Vector& p, Vector& out) { problem.smooth_hessian_product(zero, lambda, p, out); });
  lambda_ = lambda;
  return train_;
}

double Curvatures::validation(const BilevelProblem& problem, const Vector& lambda) {
  if (validation_iteration_.has_begun()) return validation_;
  const Vector zero = most_curved(problem);
  Vector g(problem.weights());
  problem.validation_gradient(zero, lambda, g);
  validation_iteration_.begin(g);
  validation_ = validation_iteration_.of(
      [&](const Vector& p, Vector& out) { problem.validation_hessian_product(zero, lambda, p, out); });
  return validation_;
}

}  // namespace yosida
