#include "search/cube_descent.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "yosida/random.hpp"

namespace yosida::search {
namespace {

// A last gain below 1e-14 of a function with curvature of order 1 leaves some 1e-6 in x.
constexpr double kTolerance = 1e-14;
constexpr double kNear = 1e-6;

TEST(CubeDescent, FollowsABentValley) {
  const auto rosenbrock = [](const Vector& at, Vector& gradient) {  // leads to (0.8, 0.64)
    const double a = 0.8 - at[0], b = at[1] - at[0] * at[0];
    gradient << -2.0 * a - 400.0 * at[0] * b, 200.0 * b;
    return a * a + 100.0 * b * b;
  };
  Vector x(2);
  x << 0.1, 0.9;
  descend_in_unit_cube(rosenbrock, kTolerance, 200, x);
  EXPECT_NEAR(x[0], 0.8, kNear);
  EXPECT_NEAR(x[1], 0.64, kNear);
}

// Minimum of Σ c_d (x_d − m_d)² in the cube: m clamped.
TEST(CubeDescent, FindsMinimaOnFacesAndCorners) {
  Random random(4);
  for (const Index n : {1, 2, 5, 20}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      Vector centre(n), curvature(n), x(n);
      for (Index d = 0; d < n; ++d) {
        centre[d] = 3.0 * random.uniform() - 1.0;
        curvature[d] = std::pow(10.0, 2.0 * random.uniform());
        x[d] = random.uniform();
      }
      const auto bowl = [&](const Vector& at, Vector& gradient) {
        gradient = 2.0 * curvature.cwiseProduct(at - centre);
        return (curvature.array() * (at - centre).array().square()).sum();
      };
      descend_in_unit_cube(bowl, kTolerance, 300, x);
      EXPECT_LE((x - centre.cwiseMax(0.0).cwiseMin(1.0)).norm(), kNear) << n << ", " << repeat;
    }
  }
}

TEST(CubeDescent, StaysBelowItsStartAndInTheCube) {
  Random random(8);
  for (int repeat = 0; repeat < 50; ++repeat) {
    const double phase = 6.0 * random.uniform();
    const auto waves = [&](const Vector& at, Vector& gradient) {
      EXPECT_TRUE((at.array() >= 0.0).all() && (at.array() <= 1.0).all());
      gradient = 30.0 * (30.0 * at.array() + phase).cos();
      return (30.0 * at.array() + phase).sin().sum();
    };
    Vector x(3), gradient(3);
    for (double& each : x) each = random.uniform();
    const double before = waves(x, gradient);
    descend_in_unit_cube(waves, 1e-9, 50, x);
    EXPECT_LE(waves(x, gradient), before);
    // A valley, or a face that is pressed against.
    for (Index d = 0; d < 3; ++d)
      EXPECT_TRUE(std::abs(gradient[d]) < 1e-2 || x[d] == 0.0 || x[d] == 1.0) << x[d] << ": " << gradient[d];
  }
}

TEST(CubeDescent, EndsWhereThereIsNothingToFollow) {
  const Vector start = Vector::Constant(2, 0.3);
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan(""), 1.0}) {
    for (const double slope : {std::nan(""), 0.0}) {
      Vector x = start;
      const auto nothing = [&](const Vector&, Vector& gradient) {
        gradient.setConstant(slope);
        return value;
      };
      descend_in_unit_cube(nothing, 1e-9, 50, x);
      EXPECT_EQ(x, start);
    }
  }
}

// A gradient that points up: no step leads down, and none is taken.
TEST(CubeDescent, EndsOnAGradientThatIsWrong) {
  const Vector start = Vector::Constant(1, 0.5);
  Vector x = start;
  descend_in_unit_cube(
      [](const Vector& at, Vector& gradient) {
        gradient[0] = -2.0 * at[0];
        return at[0] * at[0];
      },
      1e-9, 50, x);
  EXPECT_EQ(x, start);
}

}  // namespace
}  // namespace yosida::search
