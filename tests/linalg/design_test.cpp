#include "yosida/linalg/design.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "support/random_split.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

using test::matrix_of;
using test::random_design;
using test::random_matrix;

/// 10 × 3, row i holding 3i, 3i + 1, 3i + 2.
Matrix counting() {
  Matrix x(10, 3);
  for (Index i = 0; i < 10; ++i)
    for (Index j = 0; j < 3; ++j) x(i, j) = static_cast<double>(3 * i + j);
  return x;
}

TEST(Design, HasRowsOfItsOwn) {
  Matrix m = counting();
  const Design x(m);
  m.setZero();
  EXPECT_EQ(to_matrix(x), counting());
}

TEST(Design, SharesAMatrix) {
  auto m = std::make_shared<Matrix>(counting());
  const Design x{std::shared_ptr<const Matrix>(m)};
  (*m)(2, 1) = -1.0;
  EXPECT_EQ(to_matrix(x)(2, 1), -1.0);
}

TEST(Design, RefusesAMatrixThatIsNotThere) {
  EXPECT_THROW(Design(std::shared_ptr<const Matrix>()), InputError);
}

TEST(Design, KnowsItsShapeAndCost) {
  Random random(2);
  const Design dense = random_design(6, 4, 1.0, random);
  EXPECT_FALSE(dense.omits_zeros());
  EXPECT_EQ(dense.product_flops(), 48.0);
  Matrix m = Matrix::Zero(3, 5);
  m(0, 4) = m(2, 1) = 1.0;
  const Design sparse = test::sparse_of(m);
  EXPECT_TRUE(sparse.omits_zeros());
  EXPECT_EQ(sparse.rows(), 3);
  EXPECT_EQ(sparse.cols(), 5);
  EXPECT_EQ(sparse.product_flops(), 4.0);
  EXPECT_EQ(sparse.row_range(1, 2).product_flops(), 2.0);
  EXPECT_EQ(to_matrix(sparse), m);
  EXPECT_EQ(Design().rows(), 0);
  EXPECT_EQ(Design().cols(), 0);
}

TEST(DenseView, ReadsTheCallersNumbersWithTheirStride) {
  Matrix numbers = counting();
  const Design x = dense_view(numbers.data() + 1, 10, 2, 3, nullptr);
  EXPECT_EQ(to_matrix(x), numbers.rightCols(2));
  numbers(4, 2) = 99.0;
  EXPECT_EQ(to_matrix(x)(4, 1), 99.0);
}

TEST(DenseView, KeepsTheOwnerOfTheNumbersAlive) {
  std::weak_ptr<const Matrix> watched;
  Design part;
  {
    const auto owner = std::make_shared<const Matrix>(counting());
    watched = owner;
    part = dense_view(owner->data(), 10, 3, 3, owner).row_range(4, 3).mapped({.shift = Vector::Ones(3)});
  }
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(to_matrix(part)(2, 1), 18.0);
  part = Design();
  EXPECT_TRUE(watched.expired());
}

TEST(DenseView, RefusesWhatWouldBeReadOutOfBounds) {
  const Matrix m = counting();
  EXPECT_THROW(dense_view(m.data(), -1, 3, 3, nullptr), InputError);
  EXPECT_THROW(dense_view(m.data(), 10, -3, 3, nullptr), InputError);
  EXPECT_THROW(dense_view(m.data(), 10, 3, 2, nullptr), InputError);
  EXPECT_THROW(dense_view(m.data(), 10, 3, -3, nullptr), InputError);
  EXPECT_THROW(dense_view(static_cast<const double*>(nullptr), 10, 3, 3, nullptr), InputError);
  EXPECT_THROW(dense_view(static_cast<const float*>(nullptr), 10, 3, 3, nullptr), InputError);
  EXPECT_THROW(dense_view(m.data(), std::numeric_limits<Index>::max() / 4, 3, 3, nullptr), InputError);
  EXPECT_EQ(dense_view(static_cast<const double*>(nullptr), 0, 3, 3, nullptr).cols(), 3);
  EXPECT_EQ(dense_view(static_cast<const double*>(nullptr), 4, 0, 0, nullptr).rows(), 4);
}

struct Csr {
  std::vector<std::int64_t> row_start = {0, 2, 2, 5};
  std::vector<std::int32_t> column = {0, 2, 0, 1, 2};
  std::vector<double> value = {1, 2, 3, 4, 5};
  Index cols = 3;

  Design view() const { return sparse_view(row_start, column, value, cols, nullptr); }
};

TEST(SparseView, ReadsTheCallersNumbers) {
  Csr csr;
  const Design x = csr.view();
  EXPECT_EQ(to_matrix(x), (Matrix(3, 3) << 1, 0, 2, 0, 0, 0, 3, 4, 5).finished());
  csr.value[3] = 9.0;
  EXPECT_EQ(to_matrix(x)(2, 1), 9.0);
  csr.row_start = {2, 5};  // rows of a larger array
  EXPECT_EQ(to_matrix(csr.view()), (Matrix(1, 3) << 3, 9, 5).finished());
}

TEST(SparseView, RefusesWhatWouldBeReadOutOfBounds) {
  const auto refused = [](auto damage) {
    Csr csr;
    damage(csr);
    try {
      std::ignore = csr.view();
      return false;
    } catch (const InputError&) {
      return true;
    }
  };
  EXPECT_FALSE(refused([](Csr&) {}));
  EXPECT_TRUE(refused([](Csr& x) { x.row_start.clear(); }));
  EXPECT_TRUE(refused([](Csr& x) { x.row_start[1] = -1; }));
  EXPECT_TRUE(refused([](Csr& x) { x.row_start[1] = 3; }));
  EXPECT_TRUE(refused([](Csr& x) { x.row_start[3] = 6; }));
  EXPECT_TRUE(refused([](Csr& x) { x.column[1] = 3; }));
  EXPECT_TRUE(refused([](Csr& x) { x.column[1] = -1; }));
  EXPECT_TRUE(refused([](Csr& x) { x.column.pop_back(); }));
  EXPECT_TRUE(refused([](Csr& x) { x.value.pop_back(); }));
  EXPECT_TRUE(refused([](Csr& x) { x.cols = -1; }));
  EXPECT_TRUE(refused([](Csr& x) { x.column[3] = 0; }));                      // twice: which one counts?
  EXPECT_TRUE(refused([](Csr& x) { std::swap(x.column[2], x.column[3]); }));  // not in order
}

TEST(Design, SelectionsCompose) {
  for (const bool sparse : {false, true}) {
    const Matrix m = counting();
    const Design x = sparse ? Design(test::sparse_of(m)) : Design(m);
    const std::vector<Index> first = {9, 0, 3, 3, 5, 7}, second = {4, 1, 2};
    const Design twice = x.select_rows(first).select_rows(second);
    EXPECT_EQ(to_matrix(twice), Matrix(m(std::vector<Index>{5, 0, 3}, Eigen::all)));
    EXPECT_EQ(to_matrix(x.select_rows(first).row_range(1, 3)),
              Matrix(m(std::vector<Index>{0, 3, 3}, Eigen::all)));
    EXPECT_EQ(to_matrix(x.row_range(2, 5).select_rows(second)),
              Matrix(m(std::vector<Index>{6, 3, 4}, Eigen::all)));
    EXPECT_EQ(x.row_range(3, 0).rows(), 0);
    EXPECT_EQ(x.select_rows({}).rows(), 0);
    for (const Index bad : {-1, 10}) EXPECT_THROW(x.select_rows(std::vector<Index>{2, bad}), InputError);
    EXPECT_THROW(x.row_range(8, 3), InputError);
    EXPECT_THROW(x.row_range(-1, 3), InputError);
    EXPECT_THROW(x.row_range(0, -1), InputError);
    EXPECT_THROW(x.row_range(1, std::numeric_limits<Index>::max()), InputError);
  }
}

TEST(Design, StepsAreDoneInTheirOrder) {
  for (const bool sparse : {false, true}) {
    const Matrix m = counting();
    const Design x = (sparse ? Design(test::sparse_of(m)) : Design(m))
                         .mapped({.shift = Eigen::Vector3d(1, 2, 3), .scale = Eigen::Vector3d(1, 2, 4)})
                         .mapped({.differences = true})
                         .mapped({.scale = Eigen::Vector2d(2, 8)});
    EXPECT_EQ(x.cols(), 2);
    const Matrix y =
        (m.rowwise() - Eigen::RowVector3d(1, 2, 3)).array().rowwise() / Eigen::Array3d(1, 2, 4).transpose();
    const Matrix expected =
        (y.rightCols(2) - y.leftCols(2)).array().rowwise() / Eigen::Array2d(2, 8).transpose();
    EXPECT_EQ(to_matrix(x), expected);
    EXPECT_EQ(to_matrix(x.packed()), expected);
    EXPECT_THROW(x.mapped({.shift = Vector::Ones(3)}), InputError);
    EXPECT_THROW(x.mapped({.scale = Vector::Ones(1)}), InputError);
    EXPECT_THROW(x.mapped({.differences = true}).mapped({.differences = true}), InputError);
  }
}

TEST(Design, IsWidenedWhereZerosAreNotStored) {
  const Csr csr;
  const Design sparse = csr.view().select_rows(std::vector<Index>{2, 0}).widened(5);
  EXPECT_EQ(to_matrix(sparse), (Matrix(2, 5) << 3, 4, 5, 0, 0, 1, 0, 2, 0, 0).finished());
  EXPECT_EQ(sparse.widened(2).cols(), 5);
  EXPECT_EQ(Design(counting()).widened(5).cols(), 3);
}

TEST(Design, PacksOnlyWhatIsNotPacked) {
  const Design x(counting());
  EXPECT_EQ(x.bytes_to_pack(), 0.0);
  EXPECT_EQ(x.row_range(3, 4).bytes_to_pack(), 0.0);
  EXPECT_EQ(x.select_rows(std::vector<Index>{4, 1}).bytes_to_pack(), 48.0);
  EXPECT_EQ(x.mapped({.scale = Vector::Ones(3)}).bytes_to_pack(), 240.0);
  EXPECT_EQ(x.select_rows(std::vector<Index>{4, 1}).packed().bytes_to_pack(), 0.0);
  const Csr csr;
  EXPECT_EQ(csr.view().bytes_to_pack(), 0.0);
}

TEST(Design, TakesColumnsInAnyOrder) {
  Random random(5);
  const std::vector<Index> list = {3, 0, 3, 2};
  for (const double density : {1.0, 0.5}) {
    const Design x = random_design(7, 4, density, random);
    for (const Design& each : {x, x.mapped({.shift = Vector::Ones(4), .scale = Vector::Constant(4, 3.0)})})
      EXPECT_EQ(to_matrix(each.with_columns(list)), Matrix(to_matrix(each)(Eigen::all, list)));
    EXPECT_THROW(x.with_columns(std::vector<Index>{4}), InputError);
  }
}

TEST(StackRows, IsAView) {
  Matrix m = counting();
  const Design x = dense_view(m.data(), 10, 3, 3, nullptr);
  const Design adjoin = stack_rows(x.row_range(2, 3), x.row_range(5, 2));
  const Design apart = stack_rows(x.row_range(5, 2), x.row_range(2, 3));
  const Design chosen = stack_rows(x.select_rows(std::vector<Index>{8, 1}), x.row_range(2, 3));
  m *= 2.0;
  EXPECT_EQ(adjoin.bytes_to_pack(), 0.0) << "one piece";
  EXPECT_EQ(to_matrix(adjoin), m.middleRows(2, 5));
  EXPECT_EQ(to_matrix(apart), Matrix(m(std::vector<Index>{5, 6, 2, 3, 4}, Eigen::all)));
  EXPECT_EQ(to_matrix(chosen), Matrix(m(std::vector<Index>{8, 1, 2, 3, 4}, Eigen::all)));
}

TEST(StackRows, JoinsSparseRows) {
  Random random(3);
  const Design upper = random_design(9, 6, 0.3, random);
  const Design lower = random_design(5, 6, 0.3, random);
  const Design both = stack_rows(upper, lower);
  Matrix expected(14, 6);
  expected << matrix_of(upper), matrix_of(lower);
  EXPECT_EQ(matrix_of(both), expected);
  EXPECT_EQ(both.product_flops(), upper.product_flops() + lower.product_flops());
}

TEST(StackRows, RefusesPiecesThatDoNotFit) {
  const Design x(counting());
  const Csr csr;
  EXPECT_THROW(stack_rows(x, Design(Matrix::Ones(2, 2))), InputError);
  EXPECT_THROW(stack_rows(x, csr.view()), InputError);
  EXPECT_THROW(stack_rows(x, Design()), InputError) << "a piece that was never made has no columns";
  EXPECT_THROW(stack_rows(x, x.mapped({.shift = Vector::Ones(3)})), InputError);
  EXPECT_THROW(stack_rows(x, x.mapped({.differences = true})), InputError);
  EXPECT_NO_THROW(stack_rows(x.mapped({.shift = Vector::Ones(3)}), x.mapped({.shift = Vector::Ones(3)})));
  EXPECT_EQ(stack_rows(x, Design(Matrix(0, 3))).rows(), 10);
  EXPECT_EQ(stack_rows(std::span<const Design>()).rows(), 0);
}

TEST(Design, FillsWhatIsMissingInACopy) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Matrix m = counting();
  const Design whole = dense_view(m.data(), 10, 3, 3, nullptr);
  m(4, 1) = nan;
  const Design filled = whole.with_missing(Eigen::Vector3d(7, 8, 9));
  EXPECT_TRUE(std::isnan(m(4, 1)));
  EXPECT_EQ(to_matrix(filled)(4, 1), 8.0);
  m(4, 1) = 13.0;
  const Design as_it_is = whole.with_missing(Eigen::Vector3d(7, 8, 9));
  m(0, 0) = -5.0;
  EXPECT_EQ(to_matrix(as_it_is)(0, 0), -5.0) << "nothing was missing: no copy";
  EXPECT_THROW(whole.with_missing(Vector::Ones(2)), InputError);
}

}  // namespace
}  // namespace yosida
