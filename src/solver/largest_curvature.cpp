#include "yosida/solver/largest_curvature.hpp"

#include <utility>

#include "linalg/power_iteration.hpp"

namespace yosida {

void LargestCurvature::begin(const Vector& direction) { direction_ = product_ = direction; }

double LargestCurvature::of(FunctionRef<void(const Vector&, Vector&)> hessian_product) {
  const int products = std::exchange(is_first_, false) ? kFirstProducts : kFurtherProducts;
  return power_iteration(hessian_product, products, direction_, product_).norm;
}

double train_curvature(const BilevelProblem& problem, const Vector& lambda, LargestCurvature& curvature) {
  // Where the curvature of a loss of margins is largest. Intercepts are at 0 too.
  const Vector& given = problem.traits().start;
  const Vector zero = given.size() > 0 ? given : Vector::Zero(problem.weights());
  if (!curvature.has_begun()) {
    Vector g(problem.weights());  // lies where the data does, whatever the coordinates
    problem.train_gradient(zero, lambda, g);
    curvature.begin(g);
  }
  return curvature.of([&](const Vector& p, Vector& out) { problem.hessian_product(zero, lambda, p, out); });
}

}  // namespace yosida
