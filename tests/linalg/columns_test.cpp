#include "linalg/columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/compare.hpp"
#include "support/random_split.hpp"
#include "support/threads_guard.hpp"

namespace yosida {
namespace {

using test::matrix_of;
using test::random_matrix;
using test::relative_error;

/// Sums of some thousand terms, each rounded.
constexpr double kRounding = 1e-13;

// Narrow, wider than a stretch of columns, and rows in several blocks.
constexpr Index kShapes[][2] = {{1, 1}, {40, 3}, {37, 2500}, {3000, 70}};

TEST(ColumnSums, HasRangesAndSums) {
  for (const auto [rows, cols] : kShapes) {
    Random random(5);
    const Matrix plain = random_matrix(rows, cols, random);
    const auto look = look_at(Design(plain));
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    EXPECT_EQ(look->range.low, plain.colwise().minCoeff().transpose());
    EXPECT_EQ(look->range.high, plain.colwise().maxCoeff().transpose());
    EXPECT_LE(relative_error(look->sum, plain.colwise().sum().transpose()), kRounding);
    EXPECT_TRUE(look->is_finite());
  }
}

TEST(ColumnSums, IsMadeOnceOfAllThatIsStored) {
  Random random(6);
  const Design x(random_matrix(50, 4, random));
  EXPECT_EQ(look_at(x), look_at(x));
  EXPECT_EQ(look_at(x), look_at(Design(x)));
  EXPECT_NE(look_at(x.row_range(0, 49)), look_at(x));
  EXPECT_NE(look_at(x.row_range(0, 49))->sum, look_at(x)->sum);
}

TEST(ColumnSums, SaysWhereANumberIsNotFinite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Matrix plain = Matrix::Ones(20, 3);
    plain(17, 1) = bad;
    EXPECT_FALSE(look_at(Design(plain))->is_finite()) << bad;
  }
  // Finite numbers whose sum is not: it cannot tell.
  EXPECT_FALSE(look_at(Design(Matrix::Constant(20, 3, 1e308)))->is_finite());
}

TEST(ColumnStatistics, AreThoseOfTheDefinition) {
  for (const auto [rows, cols] : kShapes) {
    Random random(7);
    const Matrix plain = (random_matrix(rows, cols, random).array() + 1e3).matrix();
    const ColumnStatistics of = column_statistics(Design(plain));
    const Eigen::RowVectorXd mean = plain.colwise().mean();
    const Matrix centred = plain.rowwise() - mean;
    const Vector deviation = (centred.colwise().squaredNorm() / static_cast<double>(rows)).cwiseSqrt();
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    EXPECT_LE(relative_error(of.mean.cwiseQuotient(of.scale), mean.transpose()), kRounding);
    EXPECT_LE((of.deviation.cwiseQuotient(of.scale) - deviation).norm(), 1e-10 * std::sqrt(cols));
  }
}

TEST(ColumnStatistics, AreTheSameForAnyNumberOfThreads) {
  Random random(8);
  const Matrix plain = random_matrix(2000, 1100, random);
  const auto by = [&](int threads) {
    const test::ThreadsGuard guard(threads);
    return column_statistics(Design(plain));
  };
  const ColumnStatistics one = by(1), three = by(3);
  EXPECT_EQ(one.mean, three.mean);
  EXPECT_EQ(one.deviation, three.deviation);
}

TEST(RoughMeans, AreTheMeansOfViews) {
  Random random(9);
  const Design stored(random_matrix(300, 5, random));
  const Vector scale = Vector::LinSpaced(5, 0.5, 2.0);
  const Design all = stored.mapped({.shift = Vector::Constant(5, 3.0), .scale = scale});
  for (const Design& x : {stored, all, all.row_range(10, 200)})
    EXPECT_LE(relative_error(rough_means(x), matrix_of(x).colwise().mean().transpose()), kRounding);
}

}  // namespace
}  // namespace yosida
