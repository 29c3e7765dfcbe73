#include "problem/validation_square.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "support/compare.hpp"
#include "support/random_split.hpp"

namespace yosida {
namespace {

using test::random_matrix;
using test::random_vector;
using test::relative_error;

/// More rows than columns or fewer, with an intercept or without.
class Squares : public testing::TestWithParam<std::tuple<Index, Index, bool>> {};

INSTANTIATE_TEST_SUITE_P(Shapes, Squares,
                         testing::Values(std::tuple(5, 9, true), std::tuple(5, 9, false),
                                         std::tuple(12, 4, true), std::tuple(12, 4, false),
                                         std::tuple(6, 6, true), std::tuple(1, 3, true)));

TEST_P(Squares, AreThoseOfPlainRows) {
  const auto [rows, columns, intercept] = GetParam();
  Random random(3);
  const Matrix x = random_matrix(rows, columns, random);
  const Vector z = random_vector(rows, random);
  const Index size = columns + (intercept ? 1 : 0);
  Matrix full(rows, size);
  full.leftCols(columns) = x;
  if (intercept) full.col(columns).setOnes();
  const ValidationSquare square(Design(x), z, intercept);
  const Vector p = random_vector(size, random);
  const Vector residual = full * p - z;

  Vector g;
  EXPECT_NEAR(square.gradient(p, g), residual.squaredNorm(), 1e-12 * residual.squaredNorm());
  EXPECT_LT(relative_error(g, Vector(full.transpose() * residual)), 1e-12);
  Vector product;
  square.multiply(p, product);
  EXPECT_LT(relative_error(product, Vector(full.transpose() * (full * p))), 1e-12);

  const Eigen::MatrixXd a = random_matrix(columns, 4, random);
  const Matrix along = square.along(a);
  ASSERT_EQ(along.cols(), 2);
  for (Index k = 0; k < 2; ++k) {
    const Vector own = x * a.col(2 * k) - z;
    EXPECT_NEAR(along(0, k), own.squaredNorm(), 1e-12 * own.squaredNorm());
    EXPECT_NEAR(along(1, k), own.dot(x * a.col(2 * k + 1)),
                1e-12 * own.norm() * (x * a.col(2 * k + 1)).norm());
  }
}

}  // namespace
}  // namespace yosida
