#include "linalg/tridiagonal.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/compare.hpp"
#include "support/random_split.hpp"

namespace yosida {
namespace {

using test::random_vector;
using test::relative_error;

/// Curvatures between 1 and the condition, rising.
Vector curvatures(Index size, double condition) {
  return Vector::NullaryExpr(size, [&](Index i) {
    return std::pow(condition, static_cast<double>(i) / static_cast<double>(size - 1));
  });
}

// (h + c)⁻¹ b entry by entry is the truth.
TEST(KrylovSpace, HoldsTheSolutionsOfEveryShift) {
  for (const double condition : {1.0, 1.3, 30.0, 1e3}) {
    SCOPED_TRACE(condition);
    Random random(3);
    const Index size = 300;
    const Vector h = curvatures(size, condition), b = random_vector(size, random);
    const auto space = krylov_space(h, b, size);
    ASSERT_TRUE(space);
    const Index k = space->diagonal.size();
    EXPECT_LT(k, condition < 100.0 ? size / 2 : size);
    EXPECT_LE((space->basis.transpose() * space->basis - Matrix::Identity(k, k)).norm(), 1e-13);
    for (const double c : {0.0, 1e-9, 0.1, 1.0, 50.0, 1e6}) {
      Vector a = Vector::Unit(k, 0) * b.norm();
      solve_tridiagonal(space->diagonal, space->off_diagonal, c, a);
      const Vector truth = b.array() / (h.array() + c);
      // Rounding of the recurrences is magnified by the condition at most.
      EXPECT_LE(relative_error(space->basis * a, truth), 1e-14 * condition + 1e-13) << c;
    }
  }
}

TEST(KrylovSpace, EndsWhereTheVectorNeedsNoMore) {
  Vector h = Vector::LinSpaced(50, 1.0, 40.0);
  const Vector b = Vector::Unit(50, 3) + 2.0 * Vector::Unit(50, 17);
  const auto space = krylov_space(h, b, 10);
  ASSERT_TRUE(space);
  EXPECT_EQ(space->diagonal.size(), 2);
}

TEST(KrylovSpace, IsNotMadeWhereItIsNoSmaller) {
  Random random(4);
  const Vector b = random_vector(60, random);
  EXPECT_FALSE(krylov_space(curvatures(60, 1e9), b, 60));
  EXPECT_FALSE(krylov_space(curvatures(60, 1.5), b, 3));
  EXPECT_FALSE(krylov_space(curvatures(60, 1.5), Vector::Zero(60), 60));
}

}  // namespace
}  // namespace yosida
