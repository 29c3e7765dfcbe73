#include "yosida/data/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "yosida/error.hpp"

namespace yosida {
namespace {

/// Row i holds (i, 10 i) and y = i.
Dataset counted(Index rows) {
  Dataset data;
  Matrix x(rows, 2);
  for (Index i = 0; i < rows; ++i) {
    x(i, 0) = static_cast<double>(i);
    x(i, 1) = 10.0 * static_cast<double>(i);
  }
  data.x = Design(x);
  data.y = Vector::LinSpaced(rows, 0.0, static_cast<double>(rows - 1));
  data.source = "counted";
  return data;
}

std::vector<Index> sizes(const std::vector<Index>& fold, Index folds) {
  std::vector<Index> count(static_cast<std::size_t>(folds), 0);
  for (const Index each : fold) ++count[static_cast<std::size_t>(each)];
  return count;
}

TEST(Folds, DifferInSizeByOneAtMostAndByTheSeed) {
  const auto fold = draw_folds(counted(23), 5, false, 1);
  EXPECT_EQ(sizes(fold, 5), (std::vector<Index>{5, 5, 5, 4, 4}));
  EXPECT_EQ(fold, draw_folds(counted(23), 5, false, 1));
  EXPECT_NE(fold, draw_folds(counted(23), 5, false, 2));
}

TEST(Folds, StratifiedHoldTheirShareOfEachClass) {
  Dataset data = counted(31);
  for (Index i = 0; i < 31; ++i) data.y[i] = i < 7 ? 1.0 : -1.0;
  const auto fold = draw_folds(data, 3, true, 4);
  const auto all = sizes(fold, 3);
  const auto rare = sizes({fold.begin(), fold.begin() + 7}, 3);
  for (const auto& count : {all, rare})
    EXPECT_LE(*std::max_element(count.begin(), count.end()) - *std::min_element(count.begin(), count.end()),
              1);
}

TEST(Folds, EachIsHeldOutOnceAndRowsStayWhole) {
  const Dataset data = counted(10);
  const auto fold = draw_folds(data, 3, false, 0);
  const auto splits = fold_splits(data, fold);
  ASSERT_EQ(splits.size(), 3u);
  std::vector<double> held_out;
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(splits[k].train.rows() + splits[k].validation.rows(), 10);
    EXPECT_FALSE(splits[k].test);
    for (const Dataset* part : {&splits[k].train, &splits[k].validation})
      for (Index i = 0; i < part->rows(); ++i) {
        EXPECT_EQ(to_matrix(part->x)(i, 1), 10.0 * part->y[i]);
        EXPECT_EQ(fold[static_cast<std::size_t>(part->y[i])] == static_cast<Index>(k),
                  part == &splits[k].validation);
      }
    held_out.insert(held_out.end(), splits[k].validation.y.begin(), splits[k].validation.y.end());
  }
  std::sort(held_out.begin(), held_out.end());
  EXPECT_TRUE(std::equal(held_out.begin(), held_out.end(), data.y.begin(), data.y.end()));
}

// Not one of them copies a row: what changes in the caller's numbers is seen in all.
TEST(Folds, AreViews) {
  Matrix rows = to_matrix(counted(6).x);
  Dataset data = counted(6);
  data.x = dense_view(rows.data(), 6, 2, 2, nullptr);
  const auto splits = fold_splits(data, {0, 1, 0, 1, 0, 1});
  rows(1, 0) = 99.0;
  EXPECT_EQ(to_matrix(splits[0].train.x)(0, 0), 99.0);
  EXPECT_EQ(to_matrix(splits[1].validation.x)(0, 0), 99.0);
}

TEST(Folds, OfTheDataItselfAreItsDistinctValues) {
  Dataset data = counted(5);
  data.fold = (Vector(5) << 2019, 2021, 2019, 2020, 2021).finished();
  EXPECT_EQ(given_folds(data), (std::vector<Index>{0, 2, 0, 1, 2}));
  data.fold.setConstant(3);
  EXPECT_THROW(given_folds(data), InputError);
}

TEST(Folds, ThatCannotBeAreRefused) {
  EXPECT_THROW(draw_folds(counted(10), 1, false, 0), InputError);
  EXPECT_THROW(draw_folds(counted(10), 11, false, 0), InputError);
  Dataset data = counted(10);
  for (Index i = 0; i < 10; ++i) data.y[i] = i < 2 ? 4.0 : 8.0;
  try {
    draw_folds(data, 3, true, 0);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "folds = 3: class 4 of counted has 2 rows: each fold needs at least 1");
  }
  EXPECT_NO_THROW(draw_folds(data, 3, false, 0));
  EXPECT_THROW(fold_splits(data, {0, 1}), InputError);
}

TEST(Folds, OfDataThatIsNotWholeAreRefused) {
  Dataset data = counted(10);
  data.y.conservativeResize(9);
  EXPECT_THROW(draw_folds(data, 2, true, 0), InputError);
  data.y.resize(0);
  EXPECT_THROW(draw_folds(data, 2, true, 0), InputError);
  data = counted(4);
  EXPECT_THROW(given_folds(data), InputError);
  data.fold = (Vector(3) << 1, 2, 1).finished();
  EXPECT_THROW(given_folds(data), InputError);
  data.fold = (Vector(4) << 1, 2, 1, std::numeric_limits<double>::quiet_NaN()).finished();
  EXPECT_THROW(given_folds(data), InputError);
}

TEST(Folds, MustBeNumberedFromZeroWithoutAGap) {
  const Dataset data = counted(4);
  EXPECT_NO_THROW(fold_splits(data, {0, 1, 2, 1}));
  for (const std::vector<Index>& folds :
       {std::vector<Index>{0, 0, 0, 0}, {0, 1, -1, 1}, {0, 1, 3, 1}, {1, 2, 1, 2}})
    EXPECT_THROW(fold_splits(data, folds), InputError);
  EXPECT_THROW(fold_splits(counted(0), {}), InputError);
}

}  // namespace
}  // namespace yosida
