#include "linalg/factor.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/random_split.hpp"

namespace yosida {
namespace {

using test::matrix_of;
using test::random_design;
using test::random_matrix;
using test::random_vector;
using test::relative_error;

/// Shapes below are at most 200 wide and well-conditioned: backward errors of some 100 ε.
constexpr double kTolerance = 1e-12;

Matrix identity(Index size) { return Matrix::Identity(size, size); }

TEST(CholeskySolve, EqualsEigensLdlt) {
  for (const Index size : {1, 2, 5, 33, 130}) {
    Random random(1);
    const Matrix a = random_matrix(size + 3, size, random);
    Matrix h = a.transpose() * a + identity(size);
    Vector b = random_vector(size, random);
    const Vector expected = test::symmetric_solution(h, b);
    ASSERT_TRUE(cholesky_solve(h, b));
    EXPECT_LE(relative_error(b, expected), kTolerance) << size;
  }
}

TEST(SymmetricEigen, GivesOrthonormalVectorsAndTheMatrixBack) {
  for (const Index size : {1, 2, 33, 130}) {
    Random random(2);
    const Matrix a = random_matrix(size, size, random);
    const Matrix h = a + a.transpose();
    const Eigensystem parts = symmetric_eigen(h);
    EXPECT_LE((parts.vectors.transpose() * parts.vectors - identity(size)).norm(), kTolerance) << size;
    const Matrix back = parts.vectors * parts.values.asDiagonal() * parts.vectors.transpose();
    EXPECT_LE(relative_error(back, h), kTolerance) << size;
    for (Index i = 1; i < size; ++i) EXPECT_LE(parts.values[i - 1], parts.values[i]);
  }
}

TEST(CholeskySolve, SaysWhereTheMatrixIsNotPositiveDefinite) {
  Matrix h = identity(3);
  h(1, 1) = -1.0;
  Vector b = Vector::Ones(3);
  EXPECT_FALSE(cholesky_solve(h, b));
  h = Matrix::Constant(2, 2, std::nan(""));
  b = Vector::Ones(2);
  EXPECT_FALSE(cholesky_solve(h, b));
}

TEST(CholeskyFactor, MultipliesToTheMatrixAndSolvesTriangles) {
  for (const Index size : {1, 2, 5, 33, 130}) {
    Random random(7);
    const Matrix a = random_matrix(size + 3, size, random);
    const Matrix h = a.transpose() * a + identity(size);
    Matrix l = h;
    l.triangularView<Eigen::StrictlyUpper>().setConstant(std::nan(""));  // must not be read
    ASSERT_TRUE(cholesky_factor(l));
    const Matrix lower = l.triangularView<Eigen::Lower>();
    EXPECT_LE(relative_error(lower * lower.transpose(), h), kTolerance) << size;

    const Matrix b = random_matrix(size, 9, random);
    Matrix wide = Matrix::Constant(size, 12, 7.0);  // a block of a larger matrix
    wide.leftCols(9) = b;
    solve_lower(l, wide.leftCols(9));
    EXPECT_LE(relative_error(lower * wide.leftCols(9), b), kTolerance) << size;
    EXPECT_TRUE((wide.rightCols(3).array() == 7.0).all());

    Vector x = b.col(0);
    solve_lower(l, x);
    EXPECT_LE(relative_error(lower * x, b.col(0)), kTolerance) << size;
    x = b.col(0);
    solve_lower_transposed(l, x);
    EXPECT_LE(relative_error(lower.transpose() * x, b.col(0)), kTolerance) << size;
  }
}

TEST(CholeskyFactor, SaysWhereTheMatrixIsNotPositiveDefinite) {
  Matrix h = identity(3);
  h(2, 2) = -1.0;
  EXPECT_FALSE(cholesky_factor(h));
  h = Matrix::Constant(2, 2, std::nan(""));
  EXPECT_FALSE(cholesky_factor(h));
}

TEST(Svd, ReconstructsAndEqualsEigens) {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{1, 1}, {7, 3}, {3, 7}, {40, 40}, {90, 31}, {31, 90}}) {
    for (const bool full_v : {false, true}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << cols << (full_v ? ", full V" : ""));
      Random random(2);
      const Matrix a = random_matrix(rows, cols, random);
      const Svd f = svd(a, full_v);
      const Index k = std::min(rows, cols);
      ASSERT_EQ(f.u.rows(), rows);
      ASSERT_EQ(f.u.cols(), k);
      ASSERT_EQ(f.v.rows(), cols);
      ASSERT_EQ(f.v.cols(), full_v ? cols : k);
      EXPECT_LE(relative_error(f.u * f.s.asDiagonal() * f.v.leftCols(k).transpose(), a), kTolerance);
      EXPECT_LE(relative_error(f.u.transpose() * f.u, identity(k)), kTolerance);
      EXPECT_LE(relative_error(f.v.transpose() * f.v, identity(f.v.cols())), kTolerance);
      EXPECT_LE(relative_error(f.s, test::singular_values(a).s), kTolerance);
    }
  }
}

// A matrix of rank 2: the remaining singular values are 0 to rounding, and V is orthonormal all the same.
TEST(Svd, HoldsForADeficientMatrix) {
  Random random(3);
  const Matrix a = random_matrix(9, 2, random) * random_matrix(2, 6, random);
  const Svd f = svd(a, true);
  EXPECT_LE(f.s.tail(4).maxCoeff(), 1e-13 * f.s[0]);
  EXPECT_LE(relative_error(f.v.transpose() * f.v, identity(6)), kTolerance);
}

TEST(Qr, ReconstructsWithAnOrthonormalQAndATriangularR) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 1}, {5, 5}, {9, 4}, {200, 35}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    Random random(4);
    const Matrix a = random_matrix(rows, cols, random);
    const Qr f = qr(a);
    ASSERT_EQ(f.q.rows(), rows);
    ASSERT_EQ(f.q.cols(), cols);
    EXPECT_LE(relative_error(f.q * f.r, a), kTolerance);
    EXPECT_LE(relative_error(f.q.transpose() * f.q, identity(cols)), kTolerance);
    EXPECT_TRUE(Matrix(f.r.triangularView<Eigen::StrictlyLower>()).isZero(0.0));
    // R is unique up to the signs of its rows.
    const Eigen::MatrixXd r = test::orthogonal_factors(a).r;
    EXPECT_LE(relative_error(f.r.cwiseAbs(), r.cwiseAbs()), 1e-11);
  }
}

// RᵀR = AᵀA with A = [X − 1 sᵀ | 1 | y − t]: equal least-squares data. Row counts below, at and above one
// block (64 rows, or three times the columns), and one where the factor has fewer rows than columns.
TEST(TriangularFactor, HasTheGramMatrixOfTheShiftedRows) {
  for (const double density : {1.0, 0.3})
    for (const bool with_ones : {false, true})
      for (const auto& [rows, cols] :
           {std::pair<Index, Index>{1, 1}, {4, 9}, {9, 9}, {64, 5}, {65, 5}, {700, 30}}) {
        SCOPED_TRACE(testing::Message()
                     << rows << " x " << cols << ", density " << density << ", ones " << with_ones);
        Random random(5);
        const Design x = random_design(rows, cols, density, random);
        const Vector shift = random_vector(cols, random);
        const Vector y = random_vector(rows, random);
        const double y_shift = 0.7;
        const Matrix factor = triangular_factor(x, shift, with_ones, y, y_shift);
        Matrix a = Matrix::Ones(rows, cols + (with_ones ? 2 : 1));
        a.leftCols(cols) = matrix_of(x).rowwise() - shift.transpose();
        a.rightCols(1) = (y.array() - y_shift).matrix();
        ASSERT_EQ(factor.cols(), a.cols());
        ASSERT_EQ(factor.rows(), std::min(rows, a.cols()));
        EXPECT_LE(relative_error(factor.transpose() * factor, a.transpose() * a), kTolerance);
        EXPECT_TRUE(Matrix(factor.triangularView<Eigen::StrictlyLower>()).isZero(0.0));
      }
}

TEST(AddGram, AddsToTheLowerTriangle) {
  Random random(8);
  const Matrix a = random_matrix(25, 9, random);
  const Matrix before = random_matrix(9, 9, random);
  Matrix gram = before;
  add_gram(a.topRows(20), gram);
  const Matrix expected = before + a.topRows(20).transpose() * a.topRows(20);
  EXPECT_LE(relative_error(Matrix(gram.triangularView<Eigen::Lower>()),
                           Matrix(expected.triangularView<Eigen::Lower>())),
            kTolerance);
}

TEST(Product, EqualsEigensAlsoForBlocks) {
  Random random(7);
  const Matrix a = random_matrix(40, 30, random);
  const Matrix b = random_matrix(30, 20, random);
  EXPECT_LE(relative_error(product(a, b), a * b), kTolerance);
  const Matrix expected = a.block(3, 5, 20, 10) * b.block(1, 2, 10, 15);
  EXPECT_LE(relative_error(product(a.block(3, 5, 20, 10), b.block(1, 2, 10, 15)), expected), kTolerance);
}

/// H = AᵀA + I of a random A, whose condition is some tens, and the solution of H x = b by Eigen.
struct LinearSystem {
  Matrix h;
  Vector b, solution;

  explicit LinearSystem(Index size) {
    Random random(6);
    const Matrix a = random_matrix(2 * size, size, random) / std::sqrt(2.0 * static_cast<double>(size));
    h = a.transpose() * a + identity(size);
    b = random_vector(size, random);
    solution = test::symmetric_solution(h, b);
  }
  void apply(const Vector& p, Vector& out) const { out = h * p; }
};

TEST(ConjugateGradients, EqualEigensLdlt) {
  const LinearSystem system(40);
  Vector x = Vector::Zero(40);
  int calls = 0;
  const CgReport report = conjugate_gradients(
      [&](const Vector& p, Vector& out) {
        ++calls;
        system.apply(p, out);
      },
      system.b, x, 1e-13, 200);
  EXPECT_LE(relative_error(x, system.solution), kTolerance);
  EXPECT_EQ(report.products, calls);
  EXPECT_LE(report.residual_norm, 1e-13);
}

TEST(ConjugateGradients, TakeOneProductWhereThePreconditionerIsTheInverse) {
  const LinearSystem system(40);
  const auto precondition = [&](Vector& r) { r = test::symmetric_solution(system.h, r); };
  const auto largest = [](const Vector& r) { return r.cwiseAbs().maxCoeff(); };
  Vector x = Vector::Zero(40);
  const CgReport report =
      conjugate_gradients([&](const Vector& p, Vector& out) { system.apply(p, out); }, system.b, x, 1e-10,
                          200, {.precondition = precondition, .norm = largest});
  EXPECT_EQ(report.products, 1);
  EXPECT_LE(report.residual_norm, 1e-10);
  EXPECT_LE(relative_error(x, system.solution), kTolerance);
}

TEST(ConjugateGradients, StartFromTheXGiven) {
  const LinearSystem system(20);
  const auto apply = [&](const Vector& p, Vector& out) { system.apply(p, out); };
  Vector x = system.solution;
  const CgReport near = conjugate_gradients(apply, system.b, x, 1e-9, 100);
  EXPECT_EQ(near.products, 1);  // the one that shows x is near enough
  EXPECT_EQ(x, system.solution);
  x = Vector::Ones(20);
  conjugate_gradients(apply, system.b, x, 1e-13, 100);
  EXPECT_LE(relative_error(x, system.solution), kTolerance);
}

TEST(ConjugateGradients, HoldTheirLimitAndReportTheResidual) {
  const LinearSystem system(30);
  Vector x = Vector::Zero(30);
  const CgReport report =
      conjugate_gradients([&](const Vector& p, Vector& out) { system.apply(p, out); }, system.b, x, 0.0, 4);
  EXPECT_EQ(report.products, 4);
  const double residual = (system.b - system.h * x).norm();
  EXPECT_NEAR(report.residual_norm, residual, 1e-12 * system.b.norm());
  EXPECT_LT(residual, system.b.norm());
}

TEST(ConjugateGradients, LeaveXWhereThereIsNoCurvature) {
  Vector x = Vector::Zero(3);
  const CgReport report =
      conjugate_gradients([](const Vector&, Vector& out) { out.setZero(); }, Vector::Ones(3), x, 1e-10, 10);
  EXPECT_TRUE(x.isZero(0.0));
  EXPECT_EQ(report.products, 1);
}

}  // namespace
}  // namespace yosida
