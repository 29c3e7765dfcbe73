#include "model/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "yosida/model/models.hpp"

namespace yosida {
namespace {

Vector vector(std::initializer_list<double> values) {
  return Eigen::Map<const Vector>(values.begin(), static_cast<Index>(values.size()));
}

/// The rows that are summed over; no formula reads their numbers.
Design rows(Index count) { return Design(Matrix(Matrix::Ones(count, 1))); }

TEST(Metrics, RSquaredOfMeanIsZeroAndOfTruthIsOne) {
  const Vector y = vector({1, 2, 4, 9});
  EXPECT_DOUBLE_EQ(*r_squared(rows(4), y, y), 1.0);
  EXPECT_NEAR(*r_squared(rows(4), y, Vector::Constant(4, 4.0)), 0.0, 1e-15);
  EXPECT_FALSE(r_squared(rows(3), Vector::Ones(3), vector({1, 2, 3})));
}

TEST(Metrics, AreaUnderRocCountsPairsAndTiesHalf) {
  // Pairs (positive above negative): 2 > 1 yes, 2 > 3 no, 3 = 3 half, 3 > 1 yes: 2.5 of 4.
  const Vector y = vector({1, -1, -1, 1});
  const Vector m = vector({2, 1, 3, 3});
  EXPECT_DOUBLE_EQ(*area_under_roc(rows(4), y, m), 2.5 / 4.0);
  EXPECT_DOUBLE_EQ(*area_under_roc(rows(4), y, -m), 1.5 / 4.0);
  EXPECT_FALSE(area_under_roc(rows(3), Vector::Ones(3), vector({1, 2, 3})));
}

TEST(Metrics, AccuracyIsTheShareOfRightSigns) {
  EXPECT_DOUBLE_EQ(accuracy(rows(4), vector({1, -1, -1, 1}), vector({0.1, -2, 3, -1})), 0.5);
}

TEST(Equivalents, FollowFromThePenaltyWithoutHalf) {
  Dataset train;
  train.x = Design(Matrix::Ones(4, 1));
  train.y = vector({1, 2, 3, 6});  // mean 3, population variance 3.5, mean square 12.5
  const double penalty = 2.0 * std::exp(-2.0);
  const Vector lambda = Vector::Constant(1, -2.0);
  const auto of = [&](const char* name, bool intercept) {
    return model(name).equivalents({.lambda = lambda, .train = train, .intercept = intercept, .classes = 0});
  };
  const auto ridge = of("ridge", true);
  EXPECT_EQ(ridge[0].first, "sklearn_ridge_alpha");
  EXPECT_DOUBLE_EQ(ridge[0].second, 4.0 * penalty);
  EXPECT_DOUBLE_EQ(ridge[1].second, penalty * std::sqrt(3.5));
  EXPECT_DOUBLE_EQ(of("ridge", false)[1].second, penalty * std::sqrt(12.5));
  const auto with = of("logistic", true);
  const auto without = of("logistic", false);
  EXPECT_EQ(with.size(), 2u);  // liblinear would penalise the intercept
  EXPECT_EQ(without.size(), 3u);
  EXPECT_DOUBLE_EQ(without[2].second, 1.0 / (4.0 * penalty));
}

TEST(Accuracy, OfSeveralClassesIsWhereTheLargestMarginIs) {
  const Vector m = (Vector(9) << 1, 2, 3, 3, 1, 2, 1, 1, 0).finished();
  EXPECT_DOUBLE_EQ(accuracy(rows(3), Eigen::Vector3d(2, 1, 0), m, 3),
                   2.0 / 3.0);  // the first of equals counts
}

TEST(RSquared, WeightsAreTimesARowIsThere) {
  const Vector y = Eigen::Vector3d(1, 2, 4), m = Eigen::Vector3d(1.5, 2, 3);
  const Vector y_twice = Eigen::Vector4d(1, 2, 4, 4), m_twice = Eigen::Vector4d(1.5, 2, 3, 3);
  EXPECT_NEAR(*r_squared(rows(3), y, m, Eigen::Vector3d(1, 1, 2)), *r_squared(rows(4), y_twice, m_twice),
              1e-15);
  EXPECT_NEAR(variance(rows(3), y, Eigen::Vector3d(0.5, 0.5, 1)), variance(rows(4), y_twice), 1e-15);
}

TEST(Metrics, RSquaredDoesNotDependOnTheScaleOfTheTarget) {
  const Vector y = Eigen::Vector4d(1, 2, 3, 5);
  const Vector m = Eigen::Vector4d(1.5, 2, 2.5, 4);
  const Vector weight = Eigen::Vector4d(1, 2, 0.5, 0.5);
  for (const double scale : {1e-300, 1e-200, 1e155, 1e300}) {
    EXPECT_NEAR(*r_squared(rows(4), scale * y, scale * m), *r_squared(rows(4), y, m), 1e-14);
    EXPECT_NEAR(*r_squared(rows(4), scale * y, scale * m, weight), *r_squared(rows(4), y, m, weight), 1e-14);
  }
}

}  // namespace
}  // namespace yosida
