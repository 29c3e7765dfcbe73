#include "yosida/data/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "support/random_split.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

/// Row i holds (i, 10 i, 100 i) and y = i: a row that lost its target, or half of itself, is seen.
Dataset counted(Index rows) {
  Dataset data;
  Matrix x(rows, 3);
  data.y.resize(rows);
  for (Index i = 0; i < rows; ++i) {
    const auto value = static_cast<double>(i);
    x.row(i) << value, 10.0 * value, 100.0 * value;
    data.y[i] = value;
  }
  data.x = Design(x);
  data.source = "counted";
  return data;
}

SparseRows sparse_rows(const Dataset& data) {
  const Matrix from = to_matrix(data.x);
  SparseRows x;
  x.columns = data.features();
  for (Index i = 0; i < data.rows(); ++i) {
    for (Index j = 0; j < data.features(); ++j) {
      x.column.push_back(static_cast<std::int32_t>(j));
      x.value.push_back(from(i, j));
    }
    x.row_start.push_back(static_cast<std::int64_t>(x.value.size()));
  }
  return x;
}

Dataset sparse_form(const Dataset& data) {
  Dataset result = data;
  result.x = sparse_rows(data);
  return result;
}

void expect_whole_rows(const Dataset& data) {
  const Matrix x = to_matrix(data.x);
  for (Index i = 0; i < data.rows(); ++i)
    EXPECT_EQ(x.row(i), data.y[i] * Eigen::RowVector3d(1.0, 10.0, 100.0));
}

TEST(Split, EveryRowGoesToOnePartAndStaysWhole) {
  const Split split =
      split_rows(counted(103), {.validation_fraction = 0.25, .test_fraction = 0.2, .seed = 4});
  EXPECT_EQ(split.validation.rows(), 26);
  ASSERT_TRUE(split.test);
  EXPECT_EQ(split.test->rows(), 21);
  EXPECT_EQ(split.train.rows(), 56);
  std::set<double> seen;
  for (const Dataset* part : {&split.train, &split.validation, &*split.test}) {
    expect_whole_rows(*part);
    seen.insert(part->y.begin(), part->y.end());
  }
  EXPECT_EQ(seen.size(), 103u);
}

// The numbers are the caller's: what changes there is seen in every part.
TEST(Split, PartsAreViews) {
  Matrix rows(40, 3);
  for (Index i = 0; i < 40; ++i) rows.row(i) = static_cast<double>(i) * Eigen::RowVector3d(1.0, 10.0, 100.0);
  Dataset data = counted(40);
  data.x = dense_view(rows.data(), 40, 3, 3, nullptr);
  Split split = split_rows(data, {.seed = 1});
  expect_whole_rows(data);
  expect_whole_rows(train_and_validation(split));
  rows *= 2.0;
  split.train.y *= 2.0;
  split.validation.y *= 2.0;
  expect_whole_rows(train_and_validation(split));
}

TEST(Split, SparseAndDenseDrawTheSameRows) {
  const SplitOptions options{.validation_fraction = 0.3, .test_fraction = 0.1, .seed = 9};
  const Split dense = split_rows(counted(50), options);
  const Split sparse = split_rows(sparse_form(counted(50)), options);
  EXPECT_EQ(dense.train.y, sparse.train.y);
  EXPECT_EQ(dense.validation.y, sparse.validation.y);
  expect_whole_rows(sparse.train);
  expect_whole_rows(*sparse.test);
  expect_whole_rows(train_and_validation(sparse));
}

TEST(Split, SeedsDecide) {
  EXPECT_EQ(split_rows(counted(50), {.seed = 3}).train.y, split_rows(counted(50), {.seed = 3}).train.y);
  EXPECT_NE(split_rows(counted(50), {.seed = 3}).train.y, split_rows(counted(50), {.seed = 4}).train.y);
}

TEST(Split, StratifiedKeepsTheShareOfEachClass) {
  Dataset data = counted(100);
  for (Index i = 0; i < 100; ++i) data.y[i] = i < 20 ? 1.0 : -1.0;
  const Split split = split_rows(data, {.validation_fraction = 0.25, .stratified = true, .seed = 0});
  EXPECT_EQ((split.validation.y.array() == 1.0).count(), 5);
  EXPECT_EQ((split.validation.y.array() == -1.0).count(), 20);
  EXPECT_EQ((split.train.y.array() == 1.0).count(), 15);
}

TEST(Split, ChosenRowsKeepTheirOrder) {
  const Split split = split_rows(counted(10), {7, 2, 9, 0, 5}, 2, 2);
  EXPECT_EQ(split.train.y, Vector(Eigen::Vector2d(7, 2)));
  EXPECT_EQ(split.validation.y, Vector(Eigen::Vector2d(9, 0)));
  EXPECT_EQ(split.test->y, Vector::Constant(1, 5.0));
  expect_whole_rows(split.train);
  expect_whole_rows(split.validation);
  expect_whole_rows(*split.test);
}

TEST(Split, RefusesAnEmptyPart) {
  EXPECT_THROW(split_rows(counted(1), {}), InputError);
  EXPECT_THROW(split_rows(counted(2), {.validation_fraction = 0.01}), InputError);
  EXPECT_THROW(split_rows(counted(10), {.validation_fraction = 0.5, .test_fraction = 0.01}), InputError);
  EXPECT_THROW(split_rows(counted(10), {.validation_fraction = 0.0}), InputError);
  EXPECT_THROW(split_rows(counted(10), {.validation_fraction = 1.0}), InputError);
  EXPECT_THROW(split_rows(counted(10), {.validation_fraction = 0.6, .test_fraction = 0.4}), InputError);
}

// Weights go where their rows go; rows of a part without weights count 1 beside others.
TEST(Split, CarriesTheWeightsOfRows) {
  for (const bool sparse : {false, true}) {
    Dataset data;
    Matrix x(4, 1);
    x << 1.0, 2.0, 3.0, 4.0;
    if (sparse) {
      data.x = test::sparse_of(x);
    } else {
      data.x = Design(x);
    }
    data.y = data.weight = x.col(0);
    Split split = split_rows(data, {3, 1, 0, 2}, 2, 1);
    EXPECT_EQ(split.train.weight, split.train.y);
    EXPECT_EQ(split.validation.weight, Vector::Constant(1, 1.0));
    EXPECT_EQ(split.test->weight, Vector::Constant(1, 3.0));
    split.validation.weight.resize(0);
    EXPECT_EQ(train_and_validation(split).weight, Vector(Eigen::Vector3d(4.0, 2.0, 1.0)));
  }
}

// What does not fit together would be read out of bounds.
TEST(Split, RefusesDataThatIsNotWhole) {
  for (const bool sparse : {false, true})
    for (const bool stratified : {false, true}) {
      const auto split = [&](const auto& damage) {
        Dataset data = sparse ? sparse_form(counted(10)) : counted(10);
        damage(data);
        split_rows(std::move(data), {.stratified = stratified});
      };
      for (const Index size : {1, 9, 11}) {
        EXPECT_THROW(split([&](Dataset& data) { data.y.setOnes(size); }), InputError);
        EXPECT_THROW(split([&](Dataset& data) { data.weight.setOnes(size); }), InputError);
        EXPECT_THROW(split([&](Dataset& data) { data.fold.setOnes(size); }), InputError);
      }
      EXPECT_THROW(split([](Dataset& data) { data.feature_names = {"a", "b"}; }), InputError);
    }
  Dataset without_target = counted(10);
  without_target.y.resize(0);
  EXPECT_NO_THROW(split_rows(without_target, {}));
  EXPECT_THROW(split_rows(without_target, {.stratified = true}), InputError);
  Dataset not_a_number = counted(10);
  not_a_number.y[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(split_rows(not_a_number, {.stratified = true}), InputError);
}

TEST(Split, RefusesSparseRowsWhoseEntriesLieOutside) {
  const auto split = [](const auto& damage) {
    Dataset data = counted(10);
    SparseRows x = sparse_rows(data);
    damage(x);
    data.x = x;
  };
  EXPECT_THROW(split([](SparseRows& x) { x.column[4] = 3; }), InputError);
  EXPECT_THROW(split([](SparseRows& x) { x.column[4] = -1; }), InputError);
  EXPECT_THROW(split([](SparseRows& x) { x.value.pop_back(); }), InputError);
  EXPECT_THROW(split([](SparseRows& x) { x.column.pop_back(); }), InputError);
  EXPECT_THROW(split([](SparseRows& x) { x.row_start[2] = 99; }), InputError);
}

TEST(Split, RefusesRowsAndCountsThatAreNotThere) {
  for (const bool sparse : {false, true}) {
    const Dataset data = sparse ? sparse_form(counted(4)) : counted(4);
    EXPECT_NO_THROW(split_rows(data, {0, 1, 2, 3}, 2, 2));
    EXPECT_THROW(split_rows(data, {0, 1, 2, 4}, 2, 2), InputError);
    EXPECT_THROW(split_rows(data, {0, 1, 2, -1}, 2, 2), InputError);
    EXPECT_THROW(split_rows(data, {0, 1, 1, 3}, 2, 2), InputError);
    EXPECT_THROW(split_rows(data, {0, 1, 2, 3}, -1, 2), InputError);
    EXPECT_THROW(split_rows(data, {0, 1, 2, 3}, 2, -1), InputError);
    EXPECT_THROW(split_rows(data, {0, 1, 2, 3}, 5, 0), InputError);
    EXPECT_THROW(split_rows(data, {0, 1, 2, 3}, 3, 2), InputError);
    EXPECT_THROW(split_rows(data, {0, 1}, 1, std::numeric_limits<Index>::max()), InputError);
  }
}

TEST(Split, RefusesToJoinPartsThatDoNotFitTogether) {
  const Split split = split_rows(counted(10), {});
  Split other = split;
  other.validation.x = Design(Matrix::Ones(other.validation.rows(), 2));
  EXPECT_THROW(train_and_validation(other), InputError);
  other = split;
  other.validation = sparse_form(other.validation);
  EXPECT_THROW(train_and_validation(other), InputError);
  other = split;
  other.validation.y.resize(0);
  EXPECT_THROW(train_and_validation(other), InputError);
  other = split;
  other.train.weight = Vector::Ones(other.train.rows() + 1);
  EXPECT_THROW(train_and_validation(other), InputError);
}

TEST(InOrderOfContents, ForgetsTheOrderOfTheRows) {
  Dataset data = counted(30);
  data.weight = Vector::Ones(30);
  data.weight[4] = 2.0;
  data.fold = Vector::LinSpaced(30, 0.0, 29.0);
  std::vector<Index> order(30);
  for (Index i = 0; i < 30; ++i) order[static_cast<std::size_t>(i)] = (7 * i + 3) % 30;
  const Dataset one = in_order_of_contents(data);
  const Dataset other = in_order_of_contents(select_rows(data, order));
  EXPECT_EQ(to_matrix(one.x), to_matrix(other.x));
  EXPECT_EQ(one.y, other.y);
  EXPECT_EQ(one.weight, other.weight);
  EXPECT_EQ(one.fold, other.fold);
  expect_whole_rows(one);
  EXPECT_NE(other.y, data.y(order));
  // Zeros that are not stored, and weights that are all the same, change nothing.
  EXPECT_EQ(in_order_of_contents(sparse_form(data)).y, one.y);
  data.weight.resize(0);
  EXPECT_EQ(in_order_of_contents(data).y, one.y);
  data.weight = Vector::Ones(3);
  EXPECT_THROW(in_order_of_contents(data), InputError);
  data.weight.resize(0);
  data.fold[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(in_order_of_contents(data), InputError);
}

TEST(InOrderOfContents, ForgetsUnitsAndOrderOfFeaturesWhereTargetsDiffer) {
  Dataset data = counted(30);
  for (Index i = 0; i < 30; ++i) data.y[i] = static_cast<double>((7 * i + 3) % 30);
  const Vector expected = in_order_of_contents(data).y;
  EXPECT_NE(expected, data.y);
  Matrix other = to_matrix(data.x).rowwise().reverse();
  other.col(1) *= 0.3;
  data.x = Design(other);
  EXPECT_EQ(in_order_of_contents(data).y, expected);
  data.y.setOnes();
  EXPECT_NE(to_matrix(in_order_of_contents(data).x), other);  // features decide where targets do not
}

TEST(InOrderOfContents, TellsEqualRowsApartByTheirWeights) {
  Dataset data = counted(1);
  data = select_rows(data, std::vector<Index>{0, 0, 0});
  data.weight = Vector::LinSpaced(3, 3.0, 1.0);
  EXPECT_EQ(in_order_of_contents(data).weight, Vector(Vector::LinSpaced(3, 1.0, 3.0)));
}

}  // namespace
}  // namespace yosida
