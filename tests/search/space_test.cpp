#include "yosida/search/space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "yosida/error.hpp"

namespace yosida::search {
namespace {

Vector point(std::initializer_list<double> values) {
  Vector result(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

std::string refusal(std::vector<Dimension> dimensions) {
  try {
    Space space(std::move(dimensions));
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(Space, EndsAreExactlyTheEnds) {
  // exp(log(x)) is not x for most of these.
  const Space space({{-10.1, 5.3}, {1e-7, 3e5, Scale::logarithmic}, {0.1, 0.7, Scale::logarithmic}});
  EXPECT_EQ(space.from_unit(Vector::Zero(3)), point({-10.1, 1e-7, 0.1}));
  EXPECT_EQ(space.from_unit(Vector::Ones(3)), point({5.3, 3e5, 0.7}));
  EXPECT_EQ(space.from_unit(point({-0.5, 1.5, 2.0})), point({-10.1, 3e5, 0.7}));
}

TEST(Space, MiddleIsThatOfTheScale) {
  const Space space({{-10.0, 5.0}, {1e-4, 1e2, Scale::logarithmic}});
  const Vector middle = space.from_unit(Vector::Constant(2, 0.5));
  EXPECT_DOUBLE_EQ(middle[0], -2.5);
  EXPECT_NEAR(middle[1], 0.1, 1e-15);  // log and exp round: 5 units in the last place of 0.1
}

TEST(Space, ToUnitIsTheInverse) {
  const Space space({{-10.0, 5.0}, {1e-8, 1e4, Scale::logarithmic}});
  for (int i = 0; i <= 20; ++i) {
    const Vector unit = Vector::Constant(2, i / 20.0);
    EXPECT_LE((space.to_unit(space.from_unit(unit)) - unit).norm(), 1e-14);  // rounding of log over 27.6
  }
}

TEST(Space, NarrowestRangeStaysInside) {
  const double high = std::nextafter(1.0, 2.0);
  for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
    const Space space({{1.0, high, scale}});
    for (int i = 0; i <= 10; ++i) {
      const double x = space.from_unit(Vector::Constant(1, i / 10.0))[0];
      EXPECT_TRUE(x >= 1.0 && x <= high);
    }
  }
}

TEST(Space, RefusalsNameTheDimension) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal({}), "space: must have at least one dimension");
  EXPECT_EQ(refusal({{2.0, 1.0, Scale::linear, "alpha"}}), "alpha = [2, 1]: low must be below high");
  EXPECT_NE(refusal({{1.0, 1.0}}).find("dimension 1 = [1, 1]"), std::string::npos);
  EXPECT_NE(refusal({{0.0, 1.0}, {0.0, infinity}}).find("dimension 2 = [0, inf]"), std::string::npos);
  EXPECT_NE(refusal({{std::nan(""), 1.0}}).find("must be finite"), std::string::npos);
  EXPECT_NE(refusal({{0.0, 1.0, Scale::logarithmic}}).find("above 0"), std::string::npos);
  EXPECT_NE(refusal({{-1e308, 1e308}}).find("too wide"), std::string::npos);
}

}  // namespace
}  // namespace yosida::search
