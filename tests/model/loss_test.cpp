#include "yosida/model/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "yosida/error.hpp"

namespace yosida {
namespace {

double value(const Loss& loss, double m, double y) { return loss.sum(std::span(&m, 1), std::span(&y, 1)); }
double slope(const Loss& loss, double m, double y) {
  loss.slopes(std::span(&m, 1), std::span(&y, 1), std::span(&m, 1));  // in place, as problems call it
  return m;
}
double curvature(const Loss& loss, double m, double y) {
  loss.curvatures(std::span(&m, 1), std::span(&y, 1), std::span(&m, 1));
  return m;
}

/// Five points: f'(x) ≈ (f(x−2h) − 8f(x−h) + 8f(x+h) − f(x+2h)) / 12h, with error h⁴ f⁽⁵⁾/30 and rounding
/// ε|f|/h. With h = 1e-3, |f| ≤ 50 and derivatives under 1 that is under 1e-10.
template <typename F>
double derivative(F f, double x) {
  constexpr double h = 1e-3;
  return (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h);
}

struct Losses : testing::TestWithParam<const Loss*> {
  std::vector<double> targets() const {
    return GetParam()->is_classification() ? std::vector<double>{-1.0, 1.0}
                                           : std::vector<double>{-1.7, 0.0, 3.2};
  }
};
INSTANTIATE_TEST_SUITE_P(All, Losses, testing::Values(&least_squares(), &logistic()),
                         [](const auto& each) { return std::string(each.param->name()); });

TEST_P(Losses, SlopesAndCurvaturesAreDerivatives) {
  const Loss& loss = *GetParam();
  for (const double y : targets())
    for (double m = -6.0; m <= 6.0; m += 0.37) {
      EXPECT_NEAR(slope(loss, m, y), derivative([&](double x) { return value(loss, x, y); }, m), 1e-10);
      EXPECT_NEAR(curvature(loss, m, y), derivative([&](double x) { return slope(loss, x, y); }, m), 1e-10);
    }
}

TEST_P(Losses, SumOverRows) {
  const Loss& loss = *GetParam();
  const std::vector<double> m{-2.0, 0.5, 40.0};
  const std::vector<double> y{1.0, -1.0, 1.0};
  double sum = 0.0;
  for (std::size_t i = 0; i < m.size(); ++i) sum += value(loss, m[i], y[i]);
  EXPECT_DOUBLE_EQ(loss.sum(m, y), sum);
  EXPECT_EQ(loss.sum({}, {}), 0.0);
}

TEST_P(Losses, AreFoundByTheNameOfTheirModel) { EXPECT_EQ(&loss_of_model(GetParam()->name()), GetParam()); }

TEST(Losses, NameTheRuleForAnUnknownModel) {
  try {
    loss_of_model("lasso");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "model = lasso: must be ridge or logistic");
  }
}

TEST(LeastSquares, IsHalfTheSquare) {
  EXPECT_EQ(value(least_squares(), 3.0, 1.0), 2.0);
  EXPECT_EQ(slope(least_squares(), 3.0, 1.0), 2.0);
  EXPECT_EQ(curvature(least_squares(), 3.0, 1.0), 1.0);
  EXPECT_TRUE(least_squares().is_quadratic());
  EXPECT_FALSE(least_squares().is_classification());
}

// Margins far out: the naive log(1 + e^z) would overflow, 1 − σ would be 0 where it is 1e-300.
TEST(Logistic, StaysFiniteAndExactAtExtremeMargins) {
  for (const double m : {1e3, 1e308, std::numeric_limits<double>::max()}) {
    EXPECT_EQ(value(logistic(), -m, 1.0), m);
    EXPECT_EQ(value(logistic(), m, -1.0), m);
    EXPECT_EQ(value(logistic(), m, 1.0), 0.0);
    EXPECT_EQ(slope(logistic(), -m, 1.0), -1.0);
    EXPECT_EQ(slope(logistic(), m, -1.0), 1.0);
    EXPECT_EQ(slope(logistic(), m, 1.0), 0.0);
    EXPECT_EQ(curvature(logistic(), m, 1.0), 0.0);
    EXPECT_EQ(curvature(logistic(), -m, 1.0), 0.0);
  }
}

// At ym = 700, log(1 + e^{−700}) and both derivatives are e^{−700} to the last digit.
TEST(Logistic, KeepsItsTails) {
  const double tail = std::exp(-700.0);
  EXPECT_DOUBLE_EQ(value(logistic(), 700.0, 1.0), tail);
  EXPECT_DOUBLE_EQ(slope(logistic(), 700.0, 1.0), -tail);
  EXPECT_DOUBLE_EQ(curvature(logistic(), 700.0, 1.0), tail);
  EXPECT_DOUBLE_EQ(curvature(logistic(), -700.0, 1.0), tail);
  EXPECT_FALSE(logistic().is_quadratic());
}

TEST(Logistic, IsLogTwoAtZero) {
  EXPECT_DOUBLE_EQ(value(logistic(), 0.0, 1.0), std::log(2.0));
  EXPECT_DOUBLE_EQ(slope(logistic(), 0.0, 1.0), -0.5);
  EXPECT_DOUBLE_EQ(slope(logistic(), 0.0, -1.0), 0.5);
  EXPECT_DOUBLE_EQ(curvature(logistic(), 0.0, 1.0), 0.25);
}

}  // namespace
}  // namespace yosida
