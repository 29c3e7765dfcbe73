#include "linalg/row_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "yosida/linalg/threads.hpp"
#include "yosida/random.hpp"

namespace yosida {
namespace {

Vector random_numbers(Index rows, std::uint64_t seed) {
  Random random(seed);
  return Vector::NullaryExpr(rows, [&](Index) { return random.normal(); });
}

Design design_of(Index rows) { return Design(Matrix(Matrix::Ones(rows, 1))); }

// Small ones are summed in one range, large ones in eight.
class RowNumbers : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Sizes, RowNumbers, testing::Values(1, 7, 1000, 50001));

TEST_P(RowNumbers, SumsAreThoseOfLongNumbers) {
  const Index n = GetParam();
  const Design x = design_of(n);
  const Vector a = random_numbers(n, 1), b = random_numbers(n, 2), s = random_numbers(n, 3).cwiseAbs();
  long double sum = 0, dot = 0, weight = 0, weighted = 0, size = 0;
  for (Index i = 0; i < n; ++i) {
    sum += a[i];
    dot += static_cast<long double>(a[i]) * b[i];
    weight += s[i];
    weighted += static_cast<long double>(s[i]) * a[i];
    size += std::abs(a[i]) + std::abs(a[i] * b[i]) + s[i] + std::abs(s[i] * a[i]);
  }
  const double rounding = 1e-15 * static_cast<double>(size);
  EXPECT_NEAR(sum_of(x, a), static_cast<double>(sum), rounding);
  EXPECT_NEAR(dot_of(x, a, b), static_cast<double>(dot), rounding);
  EXPECT_NEAR(total_weight(x, s), static_cast<double>(weight), rounding);
  EXPECT_EQ(total_weight(x, {}), static_cast<double>(n));
  EXPECT_NEAR(mean_of(x, a), static_cast<double>(sum / n), rounding);
  EXPECT_NEAR(mean_of(x, a, s), static_cast<double>(weighted / weight), rounding);
}

TEST_P(RowNumbers, CountsAreExactAndSumsDoNotDependOnThreads) {
  const Index n = GetParam();
  const Design x = design_of(n);
  const Vector a = random_numbers(n, 4);
  const std::vector<Index> counts = counts_of(x, 3, [](Index i) { return i % 3; });
  EXPECT_EQ(counts, (std::vector<Index>{(n + 2) / 3, (n + 1) / 3, n / 3}));
  EXPECT_EQ(count_of(x, [&](Index i) { return a[i] > 0.0; }), (a.array() > 0.0).count());
  const int all = threads();
  set_threads(1);
  const double alone = sum_of(x, a);
  set_threads(all);
  EXPECT_EQ(sum_of(x, a), alone);
}

TEST_P(RowNumbers, OrderKeepsTheNumbersOfARowTogether) {
  const Index n = GetParam();
  const Vector a = random_numbers(n, 5);
  const auto rows = in_order_of(design_of(n), a, 2.0 * a);
  ASSERT_EQ(static_cast<Index>(rows.size()), n);
  double before = -std::numeric_limits<double>::infinity();
  for (const auto& [key, value] : rows) {
    EXPECT_GE(key, before);
    EXPECT_EQ(value, 2.0 * key);
    before = key;
  }
}

TEST(RowNumbers, ExtremesAndSets) {
  const Design x = design_of(4);
  EXPECT_EQ(largest_of(x, Eigen::Vector4d(1, -3, 2, 0)), 3.0);
  EXPECT_TRUE(std::isnan(largest_of(x, Eigen::Vector4d(1, -3, std::nan(""), 0))));
  EXPECT_EQ(distinct_of(x, Eigen::Vector4d(2, -1, 2, 0)), (std::vector<double>{-1, 0, 2}));
  EXPECT_TRUE(is_constant(x, Vector::Constant(4, 0.1)));
  EXPECT_FALSE(is_constant(x, Eigen::Vector4d(1, 1, 1, 2)));
  EXPECT_TRUE(is_constant(design_of(0), Vector()));
  EXPECT_EQ(sum_of(design_of(0), Vector()), 0.0);
}

}  // namespace
}  // namespace yosida
