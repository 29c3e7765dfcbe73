#include "search/functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace yosida::search::test {
namespace {

TEST(Functions, ExtremesAreThoseOfAScan) {
  for (const TestFunction& function : test_functions()) {
    double least = function.value(function.low), largest = least;
    constexpr int steps = 1'000'000;
    for (int i = 0; i <= steps; ++i) {
      const double t = static_cast<double>(i) / steps;
      const double value = function.value((1.0 - t) * function.low + t * function.high);
      least = std::min(least, value);
      largest = std::max(largest, value);
    }
    // A scan of step h misses an extreme by at most f'' h²/8: 1000 · (1e-5)²/8 ≈ 1e-8 here; and by rounding.
    const double missed = 2e-8;
    EXPECT_GE(least, function.minimum - 1e-13) << function.name;
    EXPECT_LE(least, function.minimum + missed) << function.name;
    EXPECT_LE(largest, function.maximum + 1e-13) << function.name;
    EXPECT_GE(largest, function.maximum - missed) << function.name;
  }
}

}  // namespace
}  // namespace yosida::search::test
