#include "linalg/gram.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "linalg/gram_of_all.hpp"
#include "linalg/tridiagonal.hpp"
#include "support/compare.hpp"
#include "support/dense.hpp"
#include "support/random_split.hpp"
#include "support/threads_guard.hpp"

namespace yosida {
namespace {

using test::matrix_of;
using test::random_matrix;
using test::random_vector;
using test::relative_error;

/// Sums of some thousand terms, each rounded.
constexpr double kRounding = 1e-13;

/// A view of every kind: some rows, in another order, shifted and scaled.
Design view_of(Index rows, Index cols, bool sparse, Random& random) {
  const Design all = test::random_design(2 * rows, cols, sparse ? 0.3 : 1.0, random);
  std::vector<Index> chosen;
  for (Index i = 0; i < rows; ++i) chosen.push_back(2 * rows - 1 - 2 * i);
  const Vector scale = random_vector(cols, random).array().abs() + 0.5;
  return all.select_rows(chosen).mapped({.shift = random_vector(cols, random), .scale = scale});
}

struct Shape {
  Index rows, cols;
};
// Below and above what has one Gram matrix for each range of rows, and rows that fill no block.
constexpr Shape kShapes[] = {{1, 1}, {5, 3}, {700, 30}, {9000, 40}, {1500, 530}, {3, 600}};

TEST(WeightedGram, IsTheSumOfProductsOfColumns) {
  for (const Shape shape : kShapes)
    for (const bool sparse : {false, true}) {
      Random random(3);
      const Design x = view_of(shape.rows, shape.cols, sparse, random);
      const Eigen::MatrixXd plain = matrix_of(x);
      const Vector weight = random_vector(shape.rows, random).cwiseAbs();
      SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.cols << ", sparse " << sparse);
      EXPECT_LE(relative_error(weighted_gram(x, {}), plain.transpose() * plain), kRounding);
      EXPECT_LE(
          relative_error(weighted_gram(x, as_span(weight)), plain.transpose() * weight.asDiagonal() * plain),
          kRounding);
      constexpr double kSingleRounding = 1e-5;
      EXPECT_LE(relative_error(rough_weighted_gram(x, as_span(weight)),
                               plain.transpose() * weight.asDiagonal() * plain),
                kSingleRounding);
    }
}

TEST(RowSums, AreTheSumsOfProducts) {
  for (const Shape shape : kShapes)
    for (const bool sparse : {false, true}) {
      Random random(4);
      const Design x = view_of(shape.rows, shape.cols, sparse, random);
      const Eigen::MatrixXd plain = matrix_of(x);
      const Vector y = random_vector(shape.rows, random);
      SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.cols << ", sparse " << sparse);
      RowSums sums = row_sums(x, y);
      EXPECT_LE(relative_error(sums.gram, plain.transpose() * plain), kRounding);
      EXPECT_LE(relative_error(sums.rows, plain.colwise().sum().transpose()), kRounding);
      EXPECT_LE(relative_error(sums.with_y, plain.transpose() * y), kRounding);
      if (shape.rows < 3) continue;  // of which nothing is left
      const Vector mean = sums.centre(static_cast<double>(shape.rows), y.sum());
      const Eigen::MatrixXd centred = plain.rowwise() - plain.colwise().mean();
      EXPECT_LE(relative_error(mean, plain.colwise().mean().transpose()), kRounding);
      EXPECT_LE(relative_error(sums.gram, centred.transpose() * centred), 10.0 * kRounding);
      EXPECT_LE(relative_error(sums.with_y, centred.transpose() * y), 10.0 * kRounding);
    }
}

TEST(WeightedGram, IsTheSameForAnyNumberOfThreads) {
  for (const Shape shape : kShapes) {
    Random random(4);
    const Design x = view_of(shape.rows, shape.cols, false, random);
    std::vector<Matrix> grams, rough;
    for (const int threads : {1, 2, 3}) {
      const test::ThreadsGuard guard(threads);
      grams.push_back(weighted_gram(x, {}));
      rough.push_back(rough_weighted_gram(x, {}));
    }
    EXPECT_EQ(grams[0], grams[1]);
    EXPECT_EQ(grams[0], grams[2]);
    EXPECT_EQ(rough[0], rough[1]);
    EXPECT_EQ(rough[0], rough[2]);
  }
}

/// All rows of a design with an offset in its columns, a column that is 0 outside the first fold, and one
/// that the first fold holds nearly all of; and its folds, pretreated by their own training rows.
struct Folds {
  Design all;
  std::vector<Design> rest, left_out;

  Folds(Index rows, Index cols, Index count, Random& random) {
    Matrix numbers = random_matrix(rows, cols, random).array() + 100.0;
    numbers.col(0).tail(rows - rows / count).setZero();
    numbers.col(1).head(rows / count) *= 1e4;
    all = Design(numbers);
    for (Index k = 0; k < count; ++k) {
      std::vector<Index> own, others;
      for (Index i = 0; i < rows; ++i) (i * count / rows == k ? own : others).push_back(i);
      const Vector scale = random_vector(cols, random).array().abs() + 0.5;
      const Vector shift = matrix_of(all.select_rows(others)).colwise().mean();
      rest.push_back(all.select_rows(others).mapped({.shift = shift, .scale = scale}));
      left_out.push_back(all.select_rows(own).mapped({.shift = shift, .scale = scale}));
    }
  }
};

TEST(GramOfAll, GivesThatOfAllButAFew) {
  Random random(8);
  const Folds folds(600, 40, 5, random);
  const GramOfAll gram(folds.all);
  for (std::size_t k = 0; k < folds.rest.size(); ++k) {
    ASSERT_TRUE(GramOfAll::serves(folds.all, folds.rest[k], folds.left_out[k]));
    const std::optional<Matrix> found = gram.of(folds.rest[k], folds.left_out[k]);
    ASSERT_TRUE(found);
    const std::vector<Index> columns = {7, 3, 39, 0, 12, 1, 5, 6, 8, 9, 10, 11, 13, 14, 15, 16, 17};
    const std::optional<Matrix> of_some = gram.of(folds.rest[k], folds.left_out[k], columns);
    ASSERT_TRUE(of_some);
    // Entry by entry beside the columns' own squares: three digits may be lost, and no column more.
    const Matrix rows = matrix_of(folds.rest[k]);
    const auto expect_products = [](const Matrix& products, const Matrix& wanted) {
      for (Index i = 0; i < wanted.rows(); ++i)
        for (Index j = 0; j < wanted.cols(); ++j)
          EXPECT_NEAR(products(i, j), wanted(i, j), 1e-11 * std::sqrt(wanted(i, i) * wanted(j, j)) + 1e-300);
    };
    expect_products(*found, rows.transpose() * rows);
    const Matrix some = rows(Eigen::all, columns);
    expect_products(*of_some, some.transpose() * some);
  }
}

// More numbers than are copied at a time.
TEST(GramOfAll, IsThatOfSomeColumnsOfManyRows) {
  Random random(10);
  const std::vector<Index> columns = {5, 2, 7, 3, 4, 6};
  const Folds folds(240000, 8, 5, random);
  const GramOfAll gram(folds.all);
  const std::optional<Matrix> found = gram.of(folds.rest[3], folds.left_out[3], columns);
  ASSERT_TRUE(found);
  const Matrix rows = matrix_of(folds.rest[3])(Eigen::all, columns);
  EXPECT_LE(relative_error(*found, rows.transpose() * rows), 1e-11);
}

TEST(GramOfAll, DoesNotServeOtherRows) {
  Random random(9);
  const Folds folds(100, 3, 5, random);
  const auto serves = [&](const Design& rest, const Design& left_out) {
    return GramOfAll::serves(folds.all, rest, left_out);
  };
  EXPECT_TRUE(serves(folds.rest[1], folds.left_out[1]));
  EXPECT_FALSE(serves(folds.rest[1], folds.left_out[2]));                         // rows twice
  EXPECT_FALSE(serves(folds.rest[1], folds.left_out[1].row_range(0, 19)));        // rows missing
  EXPECT_FALSE(serves(folds.rest[1].packed(), folds.left_out[1]));                // other memory
  EXPECT_FALSE(serves(folds.all.row_range(0, 60), folds.all.row_range(60, 40)));  // no gain
  EXPECT_FALSE(serves(folds.rest[1].mapped({.differences = true}), folds.left_out[1]));
}

TEST(RowProducts, AreThoseOfEachRowWithEach) {
  for (const bool sparse : {false, true})
    for (const auto& [rows, cols] : {Shape{1, 4}, Shape{30, 7}, Shape{140, 3000}, Shape{600, 300}}) {
      Random random(5);
      const Design x = view_of(rows, cols, sparse, random);
      const Design others = view_of(2 * rows + 1, cols, sparse, random);
      EXPECT_LE(relative_error(row_products(x), matrix_of(x) * matrix_of(x).transpose()), kRounding);
      EXPECT_LE(relative_error(row_products(others, x), matrix_of(others) * matrix_of(x).transpose()),
                kRounding);
    }
}

// Differences of columns have no shift and scale of their own.
TEST(RowProducts, AreOfRowsBehindEveryStep) {
  Random random(6);
  const Design x = test::random_design(20, 15, 1.0, random).mapped({.differences = true});
  EXPECT_LE(relative_error(row_products(x), matrix_of(x) * matrix_of(x).transpose()), kRounding);
  EXPECT_LE(relative_error(row_products(x, x), row_products(x)), kRounding);
}

TEST(Multiplied, IsTheProduct) {
  for (const Shape shape : kShapes)
    for (const bool sparse : {false, true}) {
      Random random(7);
      const Design x = view_of(shape.rows, shape.cols, sparse, random);
      const Matrix b = random_matrix(shape.cols, 3, random);
      EXPECT_LE(relative_error(multiplied(x, b), matrix_of(x) * b), kRounding);
    }
}

TEST(Multiplied, LeavesOutColumns) {
  for (const Shape shape : {Shape{1, 5}, Shape{40, 7}, Shape{3000, 90}}) {
    for (const bool sparse : {false, true}) {
      Random random(17);
      const Design x = view_of(shape.rows, shape.cols, sparse, random);
      const std::vector<Index> columns = {4, 0, 3};
      const Matrix b = random_matrix(3, 5, random);
      const Eigen::MatrixXd chosen = matrix_of(x)(Eigen::all, columns);
      EXPECT_LE(relative_error(multiplied(x, columns, b), chosen * b), kRounding);
    }
    Random random(18);
    const Design differences =
        test::random_design(shape.rows, shape.cols + 1, 1.0, random).mapped({.differences = true});
    const std::vector<Index> last = {shape.cols - 1};
    const Matrix b = random_matrix(1, 2, random);
    EXPECT_LE(relative_error(multiplied(differences, last, b), matrix_of(differences)(Eigen::all, last) * b),
              kRounding);
  }
}

TEST(Multiplied, IsTheSameForAnyNumberOfThreads) {
  Random random(19);
  const Design x = test::random_design(3000, 90, 1.0, random);
  const std::vector<Index> columns = {89, 1, 2, 3, 4, 50, 51, 52, 53, 54};
  const Matrix b = random_matrix(10, 49, random);
  std::vector<Matrix> products;
  for (const int threads : {1, 2, 3}) {
    const test::ThreadsGuard guard(threads);
    products.push_back(multiplied(x, columns, b));
  }
  EXPECT_EQ(products[0], products[1]);
  EXPECT_EQ(products[0], products[2]);
}

TEST(Tridiagonal, IsTheMatrixInOtherCoordinates) {
  for (const Index size : {1, 2, 3, 40, 150}) {
    Random random(8);
    const Matrix a = random_matrix(size + 2, size, random);
    const Eigen::MatrixXd full = a.transpose() * a;
    Matrix lower = full;
    lower.triangularView<Eigen::StrictlyUpper>().setConstant(std::nan(""));  // must not be read
    const Tridiagonal made(lower);
    const Vector b = random_vector(size, random);
    // (A + c) x = b by way of T
    Eigen::MatrixXd x = b;
    Vector inner = made.rotated_back(x).col(0);
    solve_tridiagonal(made.diagonal(), made.off_diagonal(), 0.7, inner);
    x = made.rotated(inner);
    const Eigen::MatrixXd shifted = full + 0.7 * Eigen::MatrixXd::Identity(size, size);
    EXPECT_LE(relative_error(x.col(0), test::symmetric_solution(shifted, b)), 1e-11) << size;
    const Vector values = test::symmetric_eigen(full).values;
    EXPECT_LE(relative_error(made.eigenvalues(), values), 1e-12) << size;
    // Many columns are rotated by other means than few: Q T Qᵀ is the matrix by them, too.
    Eigen::MatrixXd t = Eigen::MatrixXd::Zero(size, size);
    t.diagonal() = made.diagonal();
    t.diagonal(1) = t.diagonal(-1) = made.off_diagonal();
    const Eigen::MatrixXd some = random_matrix(size, 20, random);
    EXPECT_LE(relative_error(made.rotated(t * made.rotated_back(some)), full * some), 1e-13) << size;
  }
}

TEST(SolveTridiagonal, LeavesOutWhatHasNoPivot) {
  Vector b = Vector::Ones(3);
  solve_tridiagonal(Vector::Zero(3), {}, 0.0, b);
  EXPECT_EQ(b, Vector::Zero(3));
}

}  // namespace
}  // namespace yosida
