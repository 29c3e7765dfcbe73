#include "search/slice_sampler.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace yosida::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Moments {
  Vector mean;
  Vector variance;
};

Moments moments(LogDensity density, Vector x, int sweeps) {
  Random random(5);
  Vector sum = Vector::Zero(x.size()), squares = sum;
  for (int i = 0; i < sweeps; ++i) {
    slice_sweep(density, random, x);
    sum += x;
    squares += x.cwiseAbs2();
  }
  const Vector mean = sum / sweeps;
  return {mean, squares / sweeps - mean.cwiseAbs2()};
}

// 20 000 sweeps, neighbours in the chain correlated so that some 5000 count: four standard errors of a mean
// are 0.06 σ, of a variance 0.08 σ².
TEST(SliceSampler, DrawsFromANormalDensity) {
  const auto density = [](const Vector& x) {
    const double a = (x[0] - 3.0) / 0.2, b = (x[1] + 1.0) / 5.0;
    return -0.5 * (a * a + b * b);
  };
  const Moments found = moments(density, Vector::Zero(2), 20'000);
  EXPECT_NEAR(found.mean[0], 3.0, 0.06 * 0.2);
  EXPECT_NEAR(found.mean[1], -1.0, 0.06 * 5.0);
  EXPECT_NEAR(found.variance[0], 0.04, 0.08 * 0.04);
  EXPECT_NEAR(found.variance[1], 25.0, 0.08 * 25.0);
}

TEST(SliceSampler, DrawsFromATopHat) {
  const auto density = [](const Vector& x) { return x[0] > 0.0 && x[0] < 2.0 ? 0.0 : -kInfinity; };
  const Moments found = moments(density, Vector::Ones(1), 20'000);
  EXPECT_NEAR(found.mean[0], 1.0, 0.06 / std::sqrt(3.0));
  EXPECT_NEAR(found.variance[0], 1.0 / 3.0, 0.08 / 3.0);
}

/// Calls of the density in a sweep.
int calls(LogDensity density, Vector& x) {
  int count = 0;
  Random random(6);
  slice_sweep(
      [&](const Vector& at) {
        ++count;
        return density(at);
      },
      random, x);
  return count;
}

TEST(SliceSampler, EndsOnDensitiesThatAreNone) {
  const Vector start = Vector::Ones(1);
  Vector x = start;
  EXPECT_LE(calls([](const Vector&) { return 0.0; }, x), 1000);  // flat without end
  EXPECT_TRUE(x.allFinite());
  for (const double nowhere : {-kInfinity, std::nan("")}) {
    x = start;
    EXPECT_LE(calls([&](const Vector&) { return nowhere; }, x), 1000);
    EXPECT_EQ(x, start);
  }
  x = start;  // a point that cannot be left
  EXPECT_LE(calls([&](const Vector& at) { return at == start ? 0.0 : -kInfinity; }, x), 1000);
  EXPECT_EQ(x, start);
}

TEST(SliceSampler, LeavesAStartThatHasNoDensity) {
  Vector x = Vector::Constant(1, -0.25);
  const auto density = [](const Vector& at) { return at[0] > 0.0 && at[0] < 1.0 ? 0.0 : -kInfinity; };
  for (int i = 0; i < 50; ++i) calls(density, x);
  EXPECT_GT(x[0], 0.0);
  EXPECT_LT(x[0], 1.0);
}

}  // namespace
}  // namespace yosida::search
