#include "yosida/model/loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
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

using Margins = std::vector<double>;

double row_value(const Loss& loss, const Margins& m, double y) { return loss.sum(m, std::span(&y, 1)); }
Margins row_slopes(const Loss& loss, Margins m, double y) {
  loss.slopes(m, std::span(&y, 1), m);
  return m;
}
Margins row_state(const Loss& loss, Margins m, double y) {
  loss.curvatures(m, std::span(&y, 1), m);
  return m;
}

/// Five points: f'(x) ≈ (f(x−2h) − 8f(x−h) + 8f(x+h) − f(x+2h)) / 12h, with error h⁴ f⁽⁵⁾/30 and rounding
/// ε|f|/h. With h = 1e-3 and |f| and its derivatives under 50 that is under 1e-10.
template <typename F>
double derivative(F f, double x) {
  constexpr double h = 1e-3;
  return (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h);
}

const SharedLoss of_classes[] = {softmax(2), softmax(3), softmax(7)};

struct Losses : testing::TestWithParam<const Loss*> {
  const Loss& loss = *GetParam();
  std::vector<double> targets() const {
    std::vector<double> accepted;
    for (const double y : {-1.7, -1.0, 0.0, 1.0, 2.0, 3.2})
      if (loss.accepts(y)) accepted.push_back(y);
    return accepted;
  }
  /// Margins of one row: m at every output, apart from each other where there are several.
  Margins margins(double m) const {
    Margins row(static_cast<std::size_t>(loss.outputs()));
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = m * std::cos(2.0 * static_cast<double>(k));
    return row;
  }
};
INSTANTIATE_TEST_SUITE_P(All, Losses,
                         testing::Values(&least_squares(), &logistic(), &squared_hinge(), &huber(),
                                         &poisson(), &*of_classes[0], &*of_classes[1], &*of_classes[2]),
                         [](const auto& each) {
                           return std::string(each.param->name()) + std::to_string(each.param->outputs());
                         });

// The grid keeps 2h away from the kinks of hinge and Huber losses.
TEST_P(Losses, SlopesAndCurvaturesAreDerivatives) {
  for (const double y : targets())
    for (double m = -4.0; m <= 4.0; m += 0.37) {
      const Margins row = margins(m);
      const Margins slopes = row_slopes(loss, row, y);
      const Margins state = row_state(loss, row, y);
      Margins diagonal(row.size());
      loss.diagonal_curvatures(state, diagonal);
      for (std::size_t k = 0; k < row.size(); ++k) {
        const auto moved = [&](double x) {
          Margins at = row;
          at[k] = x;
          return at;
        };
        EXPECT_NEAR(slopes[k], derivative([&](double x) { return row_value(loss, moved(x), y); }, row[k]),
                    1e-10);
        Margins column(row.size(), 0.0);
        column[k] = 1.0;
        loss.apply_curvatures(state, column, column);
        EXPECT_NEAR(diagonal[k], column[k], 1e-15 * std::abs(column[k]));
        Margins summed(row.size() * row.size(), 0.0);
        const double weight = 2.0;
        loss.add_curvatures(state, std::span(&weight, 1), summed);
        for (std::size_t l = 0; l < row.size(); ++l)
          EXPECT_NEAR(summed[k * row.size() + l], 2.0 * column[l], 1e-15);
        for (std::size_t l = 0; l < row.size(); ++l)
          EXPECT_NEAR(column[l],
                      derivative([&](double x) { return row_slopes(loss, moved(x), y)[l]; }, row[k]), 1e-10);
      }
    }
}

// More rows than are worked on at a time, and in place, as problems call it.
TEST_P(Losses, SumAndSlopesTogetherAreThoseApart) {
  Margins m;
  std::vector<double> y;
  for (int i = 0; i < 333; ++i) {
    const Margins row = margins(20.0 * std::sin(static_cast<double>(i)));
    m.insert(m.end(), row.begin(), row.end());
    y.push_back(targets()[static_cast<std::size_t>(i) % targets().size()]);
  }
  Margins expected(m.size());
  loss.slopes(m, y, expected);
  const double sum = loss.sum(m, y);
  EXPECT_EQ(loss.sum_and_slopes(m, y, m), sum);
  EXPECT_EQ(m, expected);
}

TEST_P(Losses, SumAndValuesOverRows) {
  Margins m;
  std::vector<double> y;
  for (const double target : targets())
    for (const double at : {-2.0, 0.5, 40.0}) {
      const Margins row = margins(at);
      m.insert(m.end(), row.begin(), row.end());
      y.push_back(target);
    }
  std::vector<double> values(y.size());
  loss.values(m, y, values);
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto k = static_cast<std::size_t>(loss.outputs());
    const Margins row(m.begin() + static_cast<std::ptrdiff_t>(i * k),
                      m.begin() + static_cast<std::ptrdiff_t>((i + 1) * k));
    EXPECT_EQ(values[i], row_value(loss, row, y[i]));
    sum += values[i];
  }
  EXPECT_DOUBLE_EQ(loss.sum(m, y), sum);
  EXPECT_EQ(loss.sum({}, {}), 0.0);
}

// Far out a loss may be infinite (counts), never not a number.
TEST_P(Losses, AreNumbersAtExtremeMargins) {
  for (const double y : targets())
    for (const double m : {-1e308, -1e3, 0.0, 1e3, 1e300}) {
      const Margins row = margins(m);
      EXPECT_FALSE(std::isnan(row_value(loss, row, y))) << m;
      for (const double each : row_slopes(loss, row, y)) EXPECT_FALSE(std::isnan(each)) << m;
      for (const double each : row_state(loss, row, y)) EXPECT_FALSE(std::isnan(each)) << m;
    }
}

TEST_P(Losses, AreFoundByTheNameOfTheirModel) {
  const SharedLoss found = loss_of_model(loss.name(), loss.outputs());
  EXPECT_EQ(found->name(), loss.name());
  EXPECT_EQ(found->outputs(), loss.outputs());
}

TEST_P(Losses, AcceptOnlyTheirTargets) {
  EXPECT_EQ(loss.accepts(-1.0), loss.name() != "poisson" && loss.name() != "softmax");
  EXPECT_EQ(loss.accepts(0.5), !loss.is_classification());
  EXPECT_EQ(loss.accepts(static_cast<double>(loss.outputs())), loss.outputs() == 1);
}

TEST(Losses, NameTheRuleForAnUnknownModel) {
  try {
    loss_of_model("forest");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "model = forest: no such model; must be ridge, lasso, elastic-net, logistic, softmax, svm, "
                 "huber or poisson");
  }
  EXPECT_THROW(loss_of_model("softmax"), InputError);
}

TEST(SquaredHinge, IsTheSquareOfWhatIsMissing) {
  EXPECT_EQ(value(squared_hinge(), -1.0, 1.0), 4.0);
  EXPECT_EQ(slope(squared_hinge(), -1.0, 1.0), -4.0);
  EXPECT_EQ(curvature(squared_hinge(), -1.0, 1.0), 2.0);
  EXPECT_EQ(value(squared_hinge(), 1.0, 1.0), 0.0);
  EXPECT_EQ(curvature(squared_hinge(), 1.5, 1.0), 0.0);
}

TEST(Huber, IsLinearBeyondDelta) {
  EXPECT_EQ(value(huber(), 1.0, 2.0), 0.5);
  EXPECT_DOUBLE_EQ(value(huber(), 0.0, 10.0), 1.345 * 10.0 - 0.5 * 1.345 * 1.345);
  EXPECT_EQ(slope(huber(), 1e300, 0.0), 1.345);
  EXPECT_EQ(curvature(huber(), 1e300, 0.0), 0.0);
}

TEST(Poisson, IsLeastWhereTheMeanIsTheCount) {
  EXPECT_NEAR(slope(poisson(), std::log(3.0), 3.0), 0.0, 1e-15);
  EXPECT_NEAR(value(poisson(), std::log(3.0), 3.0), 0.0, 1e-15);
  EXPECT_NEAR(value(poisson(), 0.0, 3.0), 1.0 - 3.0 + 3.0 * std::log(3.0), 1e-15);
  EXPECT_EQ(value(poisson(), 1e300, 1e100), std::numeric_limits<double>::infinity());
  EXPECT_EQ(value(poisson(), -1e300, 0.0), 0.0);
}

// Two classes are the logistic loss of the difference of their margins.
TEST(Softmax, OfTwoClassesIsLogistic) {
  for (const double m : {-700.0, -3.0, 0.0, 0.5, 30.0, 700.0}) {
    const Margins row{0.25, 0.25 + m};
    EXPECT_DOUBLE_EQ(row_value(softmax(2), row, 1.0), value(logistic(), m, 1.0));
    EXPECT_DOUBLE_EQ(row_slopes(softmax(2), row, 1.0)[1], slope(logistic(), m, 1.0));
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

// One logarithm serves some rows at a time: small losses keep their digits, large ones do not overflow, and
// what is no number stays none, in any place and for any number of rows.
TEST(Logistic, SumsManyRowsAsOneByOne) {
  for (const double offset : {-800.0, -30.0, 0.0, 30.0, 36.0, 600.0}) {
    for (const std::size_t rows : {1U, 15U, 16U, 17U, 100U}) {
      std::vector<double> m(rows), y(rows);
      double total = 0.0;
      for (std::size_t i = 0; i < rows; ++i) {
        y[i] = i % 3 == 0 ? -1.0 : 1.0;
        m[i] = y[i] * (offset + 5.0 * std::sin(static_cast<double>(i)));
        const double z = -y[i] * m[i];
        total += std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
      }
      EXPECT_NEAR(logistic().sum(m, y), total, 1e-13 * total) << offset << ' ' << rows;
      m[rows / 2] = std::numeric_limits<double>::quiet_NaN();
      EXPECT_TRUE(std::isnan(logistic().sum(m, y)));
    }
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

/// Where y has this mean, the loss is least at the margin whose link is the mean: what a margin says must
/// agree with what training makes of it.
TEST(Link, OfTheMarginOfLeastLossIsTheMean) {
  for (const double p : {0.01, 0.3, 0.5, 0.97}) {
    const double m = std::log(p / (1.0 - p));
    EXPECT_EQ(logistic().link(), Link::probability);
    EXPECT_NEAR(p * slope(logistic(), m, 1.0) + (1.0 - p) * slope(logistic(), m, -1.0), 0.0, 1e-15);
    const Margins two = {std::log(1.0 - p), std::log(p)};
    EXPECT_EQ(softmax(2)->link(), Link::softmax);
    EXPECT_NEAR(p * row_slopes(softmax(2), two, 1.0)[1] + (1.0 - p) * row_slopes(softmax(2), two, 0.0)[1],
                0.0, 1e-15);
  }
  for (const double y : {0.25, 1.0, 40.0}) {
    EXPECT_NEAR(slope(poisson(), std::log(y), y), 0.0, 1e-13);
    EXPECT_NEAR(expected_target(poisson().link(), Vector(Vector::Constant(1, std::log(y))))[0], y, 1e-13);
    for (const Loss* loss : {&least_squares(), &huber()}) {
      EXPECT_EQ(slope(*loss, y, y), 0.0);
      EXPECT_EQ(expected_target(loss->link(), Vector(Vector::Constant(1, y)))[0], y);
    }
  }
  EXPECT_EQ(squared_hinge().link(), Link::sign);
}

TEST(Link, SaysWhetherTheTargetIsAClass) {
  for (const SharedLoss& loss : {SharedLoss(logistic()), SharedLoss(squared_hinge()), softmax(3)})
    EXPECT_TRUE(loss->is_classification());
  for (const Loss* loss : {&least_squares(), &huber(), &poisson()}) EXPECT_FALSE(loss->is_classification());
}

}  // namespace
}  // namespace yosida
