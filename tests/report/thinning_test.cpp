#include "report/thinning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "yosida/random.hpp"

namespace yosida::report {
namespace {

/// Random walks with holes and needles, on positions with long gaps and ties.
TEST(Thinning, KeepsEveryExtremeBothEndsAndTheLimit) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const auto n = static_cast<std::size_t>(1 + random.uniform() * 3000);
    const auto limit = static_cast<std::size_t>(6 + random.uniform() * 300);
    std::vector<double> position, a, b;
    double at = 0.0, walk = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      at += random.uniform() < 0.2 ? 0.0 : std::exp(3.0 * random.normal());
      walk += random.normal();
      position.push_back(at);
      a.push_back(random.uniform() < 0.05 ? std::numeric_limits<double>::quiet_NaN() : walk);
      b.push_back(random.uniform() < 0.001 ? 1e300 * random.normal() : -walk * walk);
    }
    const std::vector<std::size_t> kept = keep_extremes(position, {a, b}, limit);
    ASSERT_LE(kept.size(), std::max(limit, std::size_t{1})) << seed;
    ASSERT_TRUE(std::is_sorted(kept.begin(), kept.end()));
    ASSERT_EQ(std::adjacent_find(kept.begin(), kept.end()), kept.end()) << "no place twice";
    EXPECT_EQ(kept.front(), 0U);
    EXPECT_EQ(kept.back(), n - 1);
    for (const auto* series : {&a, &b}) {
      double low = INFINITY, high = -INFINITY, kept_low = INFINITY, kept_high = -INFINITY;
      for (const double value : *series)
        if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
      for (const std::size_t place : kept)
        if (const double value = (*series)[place]; std::isfinite(value))
          kept_low = std::min(kept_low, value), kept_high = std::max(kept_high, value);
      EXPECT_EQ(low, kept_low) << seed;
      EXPECT_EQ(high, kept_high) << seed;
    }
  }
}

TEST(Thinning, ShortOnesStayAsTheyAre) {
  const std::vector<double> values = {3.0, 1.0, 2.0}, position = {0.0, 1.0, 2.0};
  EXPECT_EQ(keep_extremes(position, {values}, 4), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(keep_extremes({}, {}, 4).empty());
}

}  // namespace
}  // namespace yosida::report
