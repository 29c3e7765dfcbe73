#include "yosida/model/penalty.hpp"

#include <gtest/gtest.h>

#include "yosida/error.hpp"

namespace yosida {
namespace {

std::vector<Index> groups_of(const Penalty& penalty) {
  std::vector<Index> groups;
  for (Index i = 0; i < penalty.weights(); ++i) groups.push_back(penalty.group(i));
  return groups;
}

TEST(Penalty, GroupsWeightsByFeatureThenOutput) {
  EXPECT_EQ(groups_of(Penalty::shared(3)), (std::vector<Index>{0, 0, 0}));
  EXPECT_EQ(groups_of(Penalty::per_feature(2, 3)), (std::vector<Index>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(groups_of(Penalty::per_class(2, 3)), (std::vector<Index>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(groups_of(Penalty::by_group({1, Penalty::kNone, 0}, 2, 2)),
            (std::vector<Index>{1, 1, -1, -1, 0, 0}));
  EXPECT_TRUE(Penalty::shared(3).is_shared());
  EXPECT_TRUE(Penalty::per_feature(1, 3).is_shared());
  EXPECT_FALSE(Penalty::by_group({0, Penalty::kNone}, 1).is_shared());
}

TEST(Penalty, LeavesInterceptsAlone) {
  const Penalty penalty = Penalty::per_feature(2);
  const Vector lambda = Eigen::Vector2d(std::log(2.0), std::log(3.0));
  const Vector w = Eigen::Vector3d(1.0, -2.0, 100.0);
  EXPECT_DOUBLE_EQ(penalty.value(w, lambda), 2.0 + 12.0);
  Vector out = Eigen::Vector3d(1.0, 1.0, 7.0);
  penalty.add_product(lambda, w, out);
  EXPECT_TRUE(out.isApprox(Eigen::Vector3d(5.0, -11.0, 7.0)));
}

TEST(Penalty, RefusesGroupsThatAreNoneOrEmpty) {
  EXPECT_THROW(Penalty::by_group({0, 2}, 2), InputError);
  EXPECT_THROW(Penalty::by_group({0, -2}, 1), InputError);
  EXPECT_THROW(Penalty::by_group({0, 0}, 2), InputError);
  EXPECT_THROW(Penalty::by_group({Penalty::kNone}, 0), InputError);
}

}  // namespace
}  // namespace yosida
