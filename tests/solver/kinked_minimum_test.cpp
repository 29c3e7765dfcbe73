#include "solver/kinked_minimum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace yosida {
namespace {

struct Piece {
  std::function<double(double)> value, slope;
};

/// The largest of some smooth functions, which has kinks where two of them meet.
KinkedMinimum::Sample largest_of(const std::vector<Piece>& pieces, double x) {
  KinkedMinimum::Sample at{.x = x, .value = -1e300, .slope_below = 0.0, .slope_above = 0.0};
  for (const Piece& piece : pieces) at.value = std::max(at.value, piece.value(x));
  at.slope_below = 1e300;
  at.slope_above = -1e300;
  for (const Piece& piece : pieces) {
    if (piece.value(x) < at.value) continue;
    at.slope_below = std::min(at.slope_below, piece.slope(x));
    at.slope_above = std::max(at.slope_above, piece.slope(x));
  }
  return at;
}

struct Found {
  double x = 0.0;
  int looks = 0;
};

Found minimum(const std::vector<Piece>& pieces, double low, double first, double high) {
  KinkedMinimum search(low, first, high);
  Found found;
  while (const auto x = search.propose()) {
    EXPECT_GE(*x, low);
    EXPECT_LE(*x, high);
    found.x = *x;
    ++found.looks;
    search.add(largest_of(pieces, *x));
  }
  return found;
}

const Piece kSmooth{[](double x) { return 3.0 + std::cosh(x - 0.3) + 0.2 * std::pow(x, 3); },
                    [](double x) { return std::sinh(x - 0.3) + 0.6 * x * x; }};

// The zero of the slope by bisection.
TEST(KinkedMinimum, OfASmoothFunctionIsWhereItsSlopeIsZero) {
  double low = -1.0, high = 1.0;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (kSmooth.slope(middle) < 0.0 ? low : high) = middle;
  }
  for (const double first : {-0.4, 0.0, 0.2, 0.9}) {
    const Found found = minimum({kSmooth}, -1.0, first, 1.0);
    EXPECT_NEAR(found.x, low, 1e-12) << first;
    EXPECT_LE(found.looks, 20) << first;
  }
}

// Two parabolas that cross at 0.25, the one falling, the other rising.
TEST(KinkedMinimum, OfAKinkIsTheKink) {
  const Piece falling{[](double x) { return 2.0 - 3.0 * (x - 0.25) + (x - 0.25) * (x - 0.25); },
                      [](double x) { return -3.0 + 2.0 * (x - 0.25); }};
  const Piece rising{[](double x) { return 2.0 + 0.1 * (x - 0.25) + 5.0 * (x - 0.25) * (x - 0.25); },
                     [](double x) { return 0.1 + 10.0 * (x - 0.25); }};
  for (const double first : {-0.4, 0.25, 0.3, 0.9}) {
    const Found found = minimum({falling, rising}, -1.0, first, 1.0);
    EXPECT_NEAR(found.x, 0.25, 1e-12) << first;
    EXPECT_LE(found.looks, 30) << first;
  }
}

TEST(KinkedMinimum, AtAnEndIsTheEnd) {
  const Piece rising{[](double x) { return 1.0 + std::exp(x); }, [](double x) { return std::exp(x); }};
  EXPECT_EQ(minimum({rising}, -2.0, -2.0, 1.0).x, -2.0);
  const Piece falling{[](double x) { return 1.0 + std::exp(-x); }, [](double x) { return -std::exp(-x); }};
  EXPECT_EQ(minimum({falling}, -2.0, 1.0, 1.0).x, 1.0);
}

TEST(KinkedMinimum, EndsWhereNothingIsKnown) {
  KinkedMinimum search(0.0, 0.5, 1.0);
  int looks = 0;
  for (; looks < 1000; ++looks) {
    const auto x = search.propose();
    if (!x) break;
    search.add({.x = *x, .value = NAN, .slope_below = NAN, .slope_above = NAN});
  }
  EXPECT_EQ(looks, 1);
}

}  // namespace
}  // namespace yosida
