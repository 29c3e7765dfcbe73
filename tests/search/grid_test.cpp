#include <gtest/gtest.h>

#include "yosida/search/samplers.hpp"

namespace yosida::search {
namespace {

std::vector<Vector> all_points(const Space& space, std::int64_t trials) {
  const auto grid = make_sampler("grid", space, {.trials = trials});
  std::vector<Vector> points;
  while (const auto proposal = grid->ask()) points.push_back(proposal->x);
  EXPECT_FALSE(grid->ask());
  return points;
}

TEST(Grid, OneDimensionHasBothEndsInIt) {
  const std::vector<Vector> points = all_points(Space({{-10.0, 5.0}}), 4);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0][0], -10.0);
  EXPECT_DOUBLE_EQ(points[1][0], -5.0);
  EXPECT_NEAR(points[2][0], 0.0, 1e-14);  // the rounding of 10
  EXPECT_EQ(points[3][0], 5.0);
}

TEST(Grid, OnePointIsTheMiddle) {
  const std::vector<Vector> points = all_points(Space({{-10.0, 5.0}}), 1);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_DOUBLE_EQ(points[0][0], -2.5);
  // Fewer trials than corners leave one point per dimension.
  EXPECT_EQ(all_points(Space({{-10.0, 5.0}, {0.0, 1.0}}), 3).size(), 1u);
}

TEST(Grid, LogarithmicScaleHasEvenRatios) {
  const std::vector<Vector> points = all_points(Space({{1e-2, 1e2, Scale::logarithmic}}), 5);
  for (std::size_t i = 0; i + 1 < points.size(); ++i)
    EXPECT_NEAR(points[i + 1][0] / points[i][0], 10.0, 1e-13);  // exp of a logarithm: a few units of rounding
}

TEST(Grid, SeveralDimensionsAreAMeshInLexicographicOrder) {
  const std::vector<Vector> points = all_points(Space({{0.0, 2.0}, {0.0, 20.0}}), 12);
  ASSERT_EQ(points.size(), 9u);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(points[static_cast<std::size_t>(i)][0], i / 3);
    EXPECT_EQ(points[static_cast<std::size_t>(i)][1], 10 * (i % 3));
  }
}

TEST(Grid, RootsAreExactWhereFloatingPointIsNot) {
  const auto points = [](Index dimensions, std::int64_t trials) {
    return all_points(Space(std::vector<Dimension>(static_cast<std::size_t>(dimensions), {0.0, 1.0})), trials)
        .size();
  };
  EXPECT_EQ(points(3, 125), 125u);  // pow(125, 1/3) is 4.999…
  EXPECT_EQ(points(3, 124), 64u);
  EXPECT_EQ(points(5, 243), 243u);
  EXPECT_EQ(points(5, 242), 32u);
  EXPECT_EQ(points(12, 4096), 4096u);
}

TEST(Grid, ManyTrialsCostNothingInAdvance) {
  const auto grid =
      make_sampler("grid", Space({{0.0, 1.0}}), {.trials = std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(grid->ask()->x[0], 0.0);
  EXPECT_GT(grid->ask()->x[0], 0.0);
}

}  // namespace
}  // namespace yosida::search
