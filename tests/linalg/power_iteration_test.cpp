#include "linalg/power_iteration.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace yosida {
namespace {

/// H = diag(1, 2, 5).
const auto apply = [](const Vector& p, Vector& out) { out = Eigen::Vector3d(1.0, 2.0, 5.0).cwiseProduct(p); };

TEST(PowerIteration, ComesNearTheLargestEigenvalueFromBelow) {
  Vector direction = Vector::Ones(3), scratch;
  const LargestSeen few = power_iteration(apply, 3, direction, scratch);
  EXPECT_GT(few.norm, 4.0);
  EXPECT_GE(few.norm, few.rayleigh);
  EXPECT_LT(few.norm, 5.0);
  // It goes on from where it was.
  const LargestSeen more = power_iteration(apply, 20, direction, scratch);
  EXPECT_NEAR(more.rayleigh, 5.0, 1e-9);
  EXPECT_NEAR(more.norm, 5.0, 1e-9);
}

// Squares of these numbers overflow, or vanish.
TEST(PowerIteration, TakesDirectionsOfAnySize) {
  for (const double size : {1e-200, 1e200}) {
    Vector direction = Vector::Constant(3, size), scratch;
    EXPECT_NEAR(power_iteration(apply, 40, direction, scratch).norm, 5.0, 1e-9) << size;
  }
}

TEST(PowerIteration, EndsWhereThereIsNoCurvature) {
  Vector direction = Vector::Zero(3), scratch;
  EXPECT_EQ(power_iteration(apply, 5, direction, scratch).norm, 0.0);
  int products = 0;
  direction.setOnes();
  const auto none = [&](const Vector&, Vector& out) {
    ++products;
    out.setZero();
  };
  EXPECT_EQ(power_iteration(none, 5, direction, scratch).rayleigh, 0.0);
  EXPECT_EQ(products, 1);
}

}  // namespace
}  // namespace yosida
