#include "yosida/solver/largest_curvature.hpp"

#include <utility>

namespace yosida {

void LargestCurvature::begin(const Vector& direction) { direction_ = product_ = direction; }

double LargestCurvature::of(FunctionRef<void(const Vector&, Vector&)> hessian_product) {
  const int products = std::exchange(is_first_, false) ? kFirstProducts : kFurtherProducts;
  double curvature = 0.0;
  for (int i = 0; i < products; ++i) {
    if (!(direction_.stableNorm() > 0.0)) break;
    direction_.stableNormalize();
    hessian_product(direction_, product_);
    curvature = product_.stableNorm();
    direction_.swap(product_);
  }
  return curvature;
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
