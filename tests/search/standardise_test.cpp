#include "search/standardise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace yosida::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Vector of(std::initializer_list<double> values) {
  return Eigen::Map<const Vector>(values.begin(), static_cast<Index>(values.size()));
}

// A handful of numbers of order 1: rounding is a few ε.
constexpr double kRounding = 1e-14;

TEST(Standardised, HasMeanZeroAndVarianceOne) {
  const Vector z = standardised(of({3.0, 1.0, 2.0, 5.0, 80.0}));
  EXPECT_NEAR(z.mean(), 0.0, kRounding);
  EXPECT_NEAR(z.squaredNorm() / 5.0, 1.0, kRounding);
}

TEST(Standardised, IsAffineUpToTwiceTheMedian) {
  const Vector z = standardised(of({10.0, 11.0, 12.0, 12.5}));  // median 12: bends above 14
  EXPECT_NEAR((z[2] - z[0]) / (z[1] - z[0]), 2.0, kRounding);
  EXPECT_NEAR((z[3] - z[0]) / (z[1] - z[0]), 2.5, kRounding);
}

TEST(Standardised, BringsFarValuesCloserAndKeepsTheirOrder) {
  // Above the best by 0, 1, 2, 4 (twice the median: where the bend begins), 100, 1e12.
  const Vector z = standardised(of({0.0, 1.0, 1.5, 2.0, 100.0, 1e12, 4.0}));
  const double unit = z[1] - z[0];
  EXPECT_NEAR((z[6] - z[0]) / unit, 4.0, kRounding);
  EXPECT_NEAR((z[4] - z[0]) / unit, 2.0 * (2.0 + std::log(49.0)), 1e-12);
  EXPECT_NEAR((z[5] - z[0]) / unit, 2.0 * (2.0 + std::log(1e12 / 2.0 - 1.0)), 1e-9);
}

TEST(Standardised, TakesFailuresForTheWorst) {
  for (const double failure : {kNaN, kInfinity, -kInfinity}) {
    const Vector z = standardised(of({1.0, failure, 2.0, 3.0}));
    EXPECT_EQ(z, standardised(of({1.0, 3.0, 2.0, 3.0}))) << failure;
  }
}

TEST(Standardised, DoesNotDependOnTheUnitToTheLastBitForPowersOfTwo) {
  const Vector values = of({0.3, -0.7, 0.11, 40.0, 0.2});
  for (const int exponent : {-900, -20, 20, 900})
    EXPECT_EQ(standardised(values * std::ldexp(1.0, exponent)), standardised(values)) << exponent;
}

// 1e-6 f + 5 keeps 10 digits of f.
TEST(Standardised, DoesNotDependOnUnitAndOrigin) {
  const Vector values = of({0.3, -0.7, 0.11, 40.0, 0.2});
  EXPECT_LE((standardised(1e6 * values) - standardised(values)).norm(), 1e-14);
  EXPECT_LE((standardised(1e-6 * values.array() + 5.0) - standardised(values)).norm(), 1e-8);
}

TEST(Standardised, IsZeroWhereThereIsNothingToTellApart) {
  EXPECT_EQ(standardised(of({7.0})), Vector::Zero(1));
  EXPECT_EQ(standardised(of({7.0, 7.0, 7.0})), Vector::Zero(3));
  EXPECT_EQ(standardised(of({0.0, -0.0})), Vector::Zero(2));
  EXPECT_EQ(standardised(of({kNaN, kInfinity})), Vector::Zero(2));
  EXPECT_EQ(standardised(of({7.0, kNaN})), Vector::Zero(2));
}

TEST(Standardised, TakesTheLargestAndTheSmallestNumbers) {
  const double largest = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  for (const Vector& values : {of({largest, -largest}), of({1e300, -1e300, 0.0}), of({1e-300, 2e-300, 0.0}),
                               of({least, 0.0}), of({0.0, least, largest}), of({-largest, 1.0, 2.0})}) {
    const Vector z = standardised(values);
    EXPECT_TRUE(z.allFinite()) << values.transpose();
    EXPECT_NEAR(z.squaredNorm() / static_cast<double>(z.size()), 1.0, kRounding) << values.transpose();
    Index best = 0, expected = 0;
    z.minCoeff(&best);
    values.minCoeff(&expected);
    EXPECT_EQ(best, expected);
  }
}

}  // namespace
}  // namespace yosida::search
