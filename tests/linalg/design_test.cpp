#include "yosida/linalg/design.hpp"

#include <gtest/gtest.h>

#include "support/random_split.hpp"

namespace yosida {
namespace {

using test::matrix_of;
using test::random_design;
using test::random_matrix;

/// 10 × 3, row i holding 3i, 3i + 1, 3i + 2.
DenseDesign counting() {
  DenseDesign x(10, 3);
  for (Index i = 0; i < 10; ++i)
    for (Index j = 0; j < 3; ++j) x.row(i)[j] = static_cast<double>(3 * i + j);
  return x;
}

TEST(DenseDesign, CopiesAMatrixToAnAlignedBuffer) {
  Random random(1);
  const Matrix m = random_matrix(7, 5, random);
  const DenseDesign x(m);
  EXPECT_EQ(x.matrix(), m);
  EXPECT_NE(x.row(0), m.data());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.row(0)) % 64, 0U);
}

TEST(DenseDesign, TakesOverABuffer) {
  const std::shared_ptr<double> buffer(new double[6]{1, 2, 3, 4, 5, 6}, std::default_delete<double[]>());
  const DenseDesign x(buffer, 2, 3);
  EXPECT_EQ(x.row(1), buffer.get() + 3);
  EXPECT_EQ(x.row(1)[2], 6.0);
  EXPECT_EQ(buffer.use_count(), 2);
}

TEST(DenseDesign, RangesAreViewsThatKeepTheBufferAlive) {
  DenseDesign view;
  {
    const DenseDesign x = counting();
    view = x.row_range(4, 3);
    EXPECT_EQ(view.row(0), x.row(4));
  }
  EXPECT_EQ(view.rows(), 3);
  EXPECT_EQ(view.matrix()(2, 1), 19.0);
  EXPECT_EQ(view.row_range(1, 1).matrix()(0, 0), 15.0);
}

TEST(DenseDesign, AdjoinsWhatFollowsInTheSameBuffer) {
  const DenseDesign x = counting();
  const DenseDesign upper = x.row_range(0, 4);
  const DenseDesign lower = x.row_range(4, 6);
  EXPECT_TRUE(upper.adjoins(lower));
  EXPECT_FALSE(lower.adjoins(upper));
  EXPECT_FALSE(upper.adjoins(x.row_range(5, 5)));           // a row is missing between
  EXPECT_FALSE(upper.adjoins(counting().row_range(4, 6)));  // another buffer
  EXPECT_FALSE(upper.adjoins(lower.narrowed(2)));
  EXPECT_FALSE(DenseDesign().adjoins(DenseDesign()));
  const DenseDesign joined = upper.joined(lower);
  EXPECT_EQ(joined.row(0), x.row(0));
  EXPECT_EQ(joined.matrix(), x.matrix());
}

TEST(DenseDesign, UnsharedCopiesOnlyWhatOthersHold) {
  DenseDesign x = counting();
  const double* const before = x.row(0);
  x = x.unshared();
  EXPECT_EQ(x.row(0), before);
  const DenseDesign other = x.row_range(8, 2);
  DenseDesign copy = x.unshared();
  EXPECT_NE(copy.row(0), before);
  EXPECT_EQ(copy.matrix(), x.matrix());
  copy.row(8)[0] = -1.0;
  EXPECT_EQ(other.row(0)[0], 24.0);
}

TEST(DenseDesign, NarrowedReadsTheSameBufferWithFewerColumns) {
  const DenseDesign x = counting();
  const DenseDesign narrow = x.narrowed(2);
  EXPECT_EQ(narrow.cols(), 2);
  EXPECT_EQ(narrow.rows(), 10);
  EXPECT_EQ(narrow.row(1), x.row(0) + 2);
}

TEST(Design, KnowsItsShapeAndCost) {
  Random random(2);
  const Design dense = random_design(6, 4, 1.0, random);
  EXPECT_FALSE(dense.is_sparse());
  EXPECT_EQ(dense.product_flops(), 48.0);
  Matrix m = Matrix::Zero(3, 5);
  m(0, 4) = m(2, 1) = 1.0;
  const Design sparse = test::sparse_of(m);
  EXPECT_TRUE(sparse.is_sparse());
  EXPECT_EQ(sparse.rows(), 3);
  EXPECT_EQ(sparse.cols(), 5);
  EXPECT_EQ(sparse.product_flops(), 4.0);
  EXPECT_EQ(Design().rows(), 0);
}

TEST(StackRows, IsAViewWhereDenseRowsAdjoin) {
  const DenseDesign x = counting();
  const Design both = stack_rows(Design(x.row_range(2, 3)), Design(x.row_range(5, 2)));
  EXPECT_EQ(both.dense().row(0), x.row(2));
  EXPECT_EQ(both.dense().matrix(), x.matrix().middleRows(2, 5));
}

TEST(StackRows, CopiesWhereTheyDoNot) {
  const DenseDesign x = counting();
  const Design both = stack_rows(Design(x.row_range(5, 2)), Design(x.row_range(2, 3)));
  Matrix expected(5, 3);
  expected << x.matrix().middleRows(5, 2), x.matrix().middleRows(2, 3);
  EXPECT_EQ(both.dense().matrix(), expected);
}

TEST(StackRows, JoinsSparseRows) {
  Random random(3);
  const Design upper = random_design(9, 6, 0.3, random);
  const Design lower = random_design(5, 6, 0.3, random);
  const Design both = stack_rows(upper, lower);
  Matrix expected(14, 6);
  expected << matrix_of(upper), matrix_of(lower);
  EXPECT_EQ(matrix_of(both), expected);
  EXPECT_EQ(both.sparse().value.size(), upper.sparse().value.size() + lower.sparse().value.size());
}

TEST(ToDense, FillsWithZeros) {
  Random random(4);
  const Design sparse = random_design(8, 5, 0.4, random);
  EXPECT_EQ(to_dense(sparse).dense().matrix(), matrix_of(sparse));
  const Design dense = random_design(3, 2, 1.0, random);
  EXPECT_EQ(to_dense(dense).dense().row(0), dense.dense().row(0));  // returned as it is
}

}  // namespace
}  // namespace yosida
