#include "yosida/solver/largest_curvature.hpp"

namespace yosida {
namespace {

constexpr int kFirstProducts = 10;
constexpr int kFurtherProducts = 2;

}  // namespace

double LargestCurvature::operator()(const BilevelProblem& problem, const Vector& lambda) {
  int products = kFurtherProducts;
  if (zero_.size() == 0) {
    products = kFirstProducts;
    zero_ = direction_ = product_ = Vector::Zero(problem.weights());
    // The gradient lies where the data does, whatever the coordinates.
    problem.train_gradient(zero_, lambda, direction_);
  }
  double curvature = 0.0;
  for (int i = 0; i < products; ++i) {
    if (!(direction_.stableNorm() > 0.0)) break;
    direction_.stableNormalize();
    problem.hessian_product(zero_, lambda, direction_, product_);
    curvature = product_.stableNorm();
    direction_.swap(product_);
  }
  return curvature;
}

}  // namespace yosida
