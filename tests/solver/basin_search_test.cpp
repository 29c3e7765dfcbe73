#include "solver/basin_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "yosida/random.hpp"

namespace yosida {
namespace {

using Sample = BasinSearch::Sample;

/// What L_V(w*(λ)) is made of: a level and logistic steps, up or down, one unit of x wide.
class Steps {
 public:
  struct Step {
    double height;
    double centre;
    double sign;  // +1 rises with x: too much penalty; −1 falls: overfitting
  };
  Steps(double level, std::vector<Step> steps) : level_(level), steps_(std::move(steps)) {}

  double value(double x) const {
    double sum = level_;
    for (const Step& each : steps_) sum += each.height * logistic(each.sign * (x - each.centre));
    return sum;
  }
  double slope(double x) const {
    double sum = 0.0;
    for (const Step& each : steps_) {
      const double p = logistic(each.sign * (x - each.centre));
      sum += each.height * each.sign * p * (1.0 - p);
    }
    return sum;
  }

 private:
  static double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

  double level_;
  std::vector<Step> steps_;
};

constexpr double kLow = -25.0, kHigh = 3.0, kSpacing = 1.9, kStart = -1.0;
// What promises less than this, relative, is not looked at: at a minimum as curved as these are, that is an x
// known to about 1e-6.
constexpr double kGain = 1e-13;
constexpr double kNearest = 1e-7;

struct Minimum {
  double x;
  double value;
};

/// The global minimum by 20 000 points and bisection of the slope around the lowest.
Minimum lowest(const Steps& h) {
  const int points = 20000;
  const double gap = (kHigh - kLow) / points;
  double best = kLow;
  for (int i = 0; i <= points; ++i)
    if (const double x = kLow + gap * i; h.value(x) < h.value(best)) best = x;
  double a = std::max(best - gap, kLow), b = std::min(best + gap, kHigh);
  if (h.slope(a) >= 0.0) return {a, h.value(a)};
  if (h.slope(b) <= 0.0) return {b, h.value(b)};
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (a + b);
    (h.slope(middle) < 0.0 ? a : b) = middle;
  }
  return {a, h.value(a)};
}

struct Driven {
  Sample best;
  int refinements;
  Index scanned;
  std::vector<double> asked;
  bool ended;
};

/// Answers proposals until there are none, or `most` refinements; checks what every proposal promises.
Driven drive(const std::function<Sample(double x, bool scanning)>& answer, int most = 200,
             double gain = kGain, double start = kStart) {
  BasinSearch search(kLow, kHigh, kSpacing, start);
  Driven result{{}, 0, search.scan_points(), {}, false};
  std::set<double> seen;
  while (result.refinements < most) {
    const auto next = search.propose(gain, kNearest);
    if (!next) {
      result.ended = true;
      break;
    }
    EXPECT_EQ(next->scanning, search.scanning());
    EXPECT_GE(next->x, kLow);
    EXPECT_LE(next->x, kHigh);
    const Sample sample = answer(next->x, next->scanning);
    // A scanned point without a slope may be asked for again, for its slope; nothing else may.
    if (sample.slope && sample.blur == 0.0) {
      EXPECT_TRUE(seen.insert(next->x).second) << next->x << " was proposed twice";
    }
    if (!next->scanning) ++result.refinements;
    result.asked.push_back(next->x);
    search.add(sample);
    if (result.asked.size() > 1000) break;
  }
  EXPECT_FALSE(search.scanning());
  for (std::size_t i = 1; i < search.samples().size(); ++i)
    EXPECT_LT(search.samples()[i - 1].x, search.samples()[i].x);
  result.best = search.best();
  return result;
}

/// `slopes_in_scan`: as where slopes are free; without, as where each costs a linear solve.
Driven drive_exactly(const Steps& h, bool slopes_in_scan, double start = kStart) {
  return drive(
      [&](double x, bool scanning) {
        Sample sample{x, h.value(x), {}, 0.0};
        if (!scanning || slopes_in_scan) sample.slope = h.slope(x);
        return sample;
      },
      200, kGain, start);
}

void expect_minimum(const Driven& found, const Minimum& truth, int refinements) {
  EXPECT_TRUE(found.ended);
  EXPECT_NEAR(found.best.x, truth.x, 1e-5);
  EXPECT_LE(found.best.value, truth.value * (1.0 + 1e-9));
  EXPECT_LE(found.refinements, refinements);
}

TEST(BasinSearch, FindsTheBottomOfOneBasin) {
  for (const double centre : {-20.0, -14.3, -7.7, -3.1, 0.4}) {
    const Steps h(1.0, {{0.7, centre - 1.5, -1.0}, {1.3, centre + 1.5, 1.0}});
    for (const bool slopes : {false, true}) {
      SCOPED_TRACE(testing::Message() << "centre " << centre << ", slopes in the scan " << slopes);
      expect_minimum(drive_exactly(h, slopes), lowest(h), 10);
    }
  }
}

// Values of the two wells: 1.5 + `left` and 1.5, apart by 2 % and by 0.2 %.
TEST(BasinSearch, FindsTheLowerOfTwoBasins) {
  for (const double left : {-0.03, 0.03, -0.003, 0.003})
    for (const double shift : {0.0, 0.5, 1.0, 1.5})
      for (const bool slopes : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << "left " << left << ", shift " << shift << ", slopes in the scan " << slopes);
        const Steps h(1.0, {{0.8, -20.0 + shift, -1.0},
                            {0.5, -13.0 + shift, 1.0},
                            {0.5 + left, -9.0 + shift, -1.0},
                            {0.9, -2.0 + shift, 1.0}});
        const Minimum truth = lowest(h);
        ASSERT_EQ(truth.x < -11.0 + shift, left < 0.0);
        expect_minimum(drive_exactly(h, slopes), truth, 25);
      }
}

TEST(BasinSearch, FindsAMinimumAtABound) {
  for (const double sign : {-1.0, 1.0})
    for (const double centre : {-24.0, -11.0, 2.5})
      for (const bool slopes : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << "sign " << sign << ", centre " << centre << ", slopes in the scan " << slopes);
        const Steps h(1.0, {{0.5, centre, sign}});
        const Driven found = drive_exactly(h, slopes);
        EXPECT_TRUE(found.ended);
        // Far from its step h is flat to the last bit, so that other x are as good.
        EXPECT_LE(found.best.value, h.value(sign > 0.0 ? kLow : kHigh) * (1.0 + 1e-12));
        EXPECT_LE(found.refinements, 10);
      }
}

TEST(BasinSearch, AConstantNeedsNoMoreThanItsScan) {
  const Steps h(0.7, {});
  const Driven with_slopes = drive_exactly(h, true);
  EXPECT_TRUE(with_slopes.ended);
  EXPECT_EQ(with_slopes.refinements, 0);
  EXPECT_EQ(with_slopes.best.value, 0.7);
  const Driven without = drive_exactly(h, false);
  EXPECT_TRUE(without.ended);
  EXPECT_LE(without.refinements, 1) << "one slope shows that there is none";
  EXPECT_EQ(without.best.value, 0.7);
}

TEST(BasinSearch, AFunctionThatIsZeroEverywhereEnds) {
  for (const bool slopes : {false, true}) {
    const Driven found = drive_exactly(Steps(0.0, {}), slopes);
    EXPECT_TRUE(found.ended);
    EXPECT_EQ(found.best.value, 0.0);
  }
}

TEST(BasinSearch, FindsAMinimumBesideAnEndThatIsInfinite) {
  const Steps h(1.0, {{0.7, -9.0, -1.0}, {1.3, -5.0, 1.0}});
  for (const double wall : {-24.9, -20.0, -12.0, -9.5})
    for (const bool slopes : {false, true}) {
      SCOPED_TRACE(testing::Message() << "wall " << wall << ", slopes in the scan " << slopes);
      const Driven found = drive([&](double x, bool scanning) {
        if (x < wall) return Sample{x, BasinSearch::kUnresolved, {}, 0.0};
        Sample sample{x, h.value(x), {}, 0.0};
        if (!scanning || slopes) sample.slope = h.slope(x);
        return sample;
      });
      expect_minimum(found, lowest(h), 12);
    }
}

// The lowest point is at the wall itself, where nothing is smooth: the search ends all the same, no higher
// than the scan has been.
TEST(BasinSearch, EndsWhereTheFunctionFallsIntoAnInfiniteEnd) {
  const Steps h(1.0, {{1.0, -10.0, 1.0}});
  for (const bool slopes : {false, true}) {
    double scanned = std::numeric_limits<double>::infinity();
    const Driven found = drive([&](double x, bool scanning) {
      if (x < -12.345) return Sample{x, BasinSearch::kUnresolved, {}, 0.0};
      Sample sample{x, h.value(x), {}, 0.0};
      if (scanning) scanned = std::min(scanned, sample.value);
      if (!scanning || slopes) sample.slope = h.slope(x);
      return sample;
    });
    EXPECT_TRUE(found.ended);
    EXPECT_LE(found.best.value, scanned);
    EXPECT_TRUE(std::isfinite(found.best.value));
  }
}

// The valley that unresolved points hide may be the lowest: they end nothing.
TEST(BasinSearch, UnresolvedPointsInARowDoNotEndTheScan) {
  const Steps h(1.0, {{0.7, -6.0, -1.0}, {1.3, -2.0, 1.0}});
  int scanned = 0;
  const Driven found = drive([&](double x, bool scanning) {
    scanned += scanning ? 1 : 0;
    if (x < -15.0) return Sample{x, BasinSearch::kUnresolved, {}, 0.0};
    return Sample{x, h.value(x), h.slope(x), 0.0};
  });
  EXPECT_EQ(scanned, found.scanned);
  EXPECT_GT(std::count_if(found.asked.begin(), found.asked.end(), [](double x) { return x < -15.0; }), 2);
  expect_minimum(found, lowest(h), 10);
}

TEST(BasinSearch, OneUnresolvedPointHidesNothing) {
  const Steps h(1.0, {{0.7, -11.0, -1.0}, {1.3, -7.0, 1.0}});
  for (Index hidden = 0; hidden < 16; ++hidden)
    for (const bool slopes : {false, true}) {
      SCOPED_TRACE(testing::Message() << "scan point " << hidden << ", slopes in the scan " << slopes);
      Index count = 0;
      const Driven found = drive([&](double x, bool scanning) {
        if (scanning && count++ == hidden) return Sample{x, BasinSearch::kUnresolved, {}, 0.0};
        Sample sample{x, h.value(x), {}, 0.0};
        if (!scanning || slopes) sample.slope = h.slope(x);
        return sample;
      });
      expect_minimum(found, lowest(h), 15);
    }
}

TEST(BasinSearch, EndsWhereNothingIsResolved) {
  const Driven found = drive([](double x, bool) { return Sample{x, BasinSearch::kUnresolved, {}, 0.0}; });
  EXPECT_TRUE(found.ended);
  EXPECT_EQ(found.refinements, 0);
}

// Random levels and steps, as many basins as these make: the global minimum by 1e-5 of its value, or
// 1e-5 of x. With slopes in the scan each interval is known by its cubic.
TEST(BasinSearch, FindsTheGlobalMinimumOfRandomSteps) {
  for (const bool slopes : {false, true})
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      Random random(seed);
      std::vector<Steps::Step> steps;
      const int count = 2 + static_cast<int>(6.0 * random.uniform());
      for (int i = 0; i < count; ++i)
        steps.push_back({random.uniform(), kLow + (kHigh - kLow) * random.uniform(),
                         random.uniform() < 0.5 ? -1.0 : 1.0});
      const Steps h(0.5, steps);
      const Driven found = drive_exactly(h, slopes);
      const Minimum truth = lowest(h);
      EXPECT_TRUE(found.ended);
      EXPECT_LE(found.best.value, truth.value * (1.0 + 1e-5))
          << "seed " << seed << ", slopes in the scan " << slopes << ": found " << found.best.x
          << ", the minimum is at " << truth.x;
      EXPECT_LE(found.refinements, 40) << "seed " << seed << ", slopes in the scan " << slopes;
    }
}

// The scale of h changes nothing: loss units are arbitrary.
TEST(BasinSearch, TakesTheSamePathWhateverTheUnitOfValues) {
  const Steps h(1.0, {{0.8, -20.0, -1.0}, {0.5, -13.0, 1.0}, {0.52, -9.0, -1.0}, {0.9, -2.0, 1.0}});
  std::vector<double> first;
  for (const double unit : {1.0, 0x1p-40, 0x1p40}) {
    const Driven found = drive([&](double x, bool scanning) {
      Sample sample{x, unit * h.value(x), {}, 0.0};
      if (!scanning) sample.slope = unit * h.slope(x);
      return sample;
    });
    if (first.empty()) first = found.asked;
    EXPECT_EQ(found.asked, first);
  }
}

TEST(BasinSearch, ScansFromTheHighEndToTheLowOneAndTheStartToo) {
  for (const double start : {-25.0, -24.99, -11.3, -1.0, 2.99, 3.0}) {
    BasinSearch search(kLow, kHigh, kSpacing, start);
    std::vector<double> scan;
    while (search.scanning()) {
      scan.push_back(search.propose(kGain, kNearest)->x);
      search.add({scan.back(), 1.0, 0.0, 0.0});
    }
    EXPECT_EQ(scan.size(), static_cast<std::size_t>(search.scan_points()));
    EXPECT_EQ(scan.front(), kHigh);
    EXPECT_EQ(scan.back(), kLow);
    EXPECT_EQ(std::count(scan.begin(), scan.end(), start), 1);
    for (std::size_t i = 1; i < scan.size(); ++i) {
      EXPECT_LT(scan[i], scan[i - 1]);
      EXPECT_LE(scan[i - 1] - scan[i], kSpacing * (1.0 + 1e-12));
    }
  }
}

struct Skimmed {
  double lowest;
  std::size_t points;
};

/// The scan alone, with slopes, of points 0.7 apart, one in `stride` of them at first.
Skimmed skim(const Steps& h, std::size_t stride) {
  BasinSearch search(kLow, kHigh, 0.7, kStart);
  search.skim(stride, kStart);
  const Index all = BasinSearch(kLow, kHigh, 0.7, kStart).scan_points();
  double share = 0.0;
  do {
    const double x = search.next_scanned();
    search.add({x, h.value(x), h.slope(x), 0.0});
    if (!search.scanning()) search.scan_between();
    EXPECT_GE(search.share_scanned(), share);
    share = search.share_scanned();
  } while (search.scanning());
  EXPECT_EQ(share, 1.0);
  EXPECT_LE(std::ssize(search.samples()), all);
  return {search.best_value(), search.samples().size()};
}

// What is left out is never lower than what is scanned: the same lowest point as of a scan of all.
TEST(BasinSearch, SkippedPointsAreNotTheLowest) {
  Random random(3);
  std::size_t skimmed = 0, all = 0;
  for (int curve = 0; curve < 20000; ++curve) {
    std::vector<Steps::Step> steps;
    const int count = 1 + curve % 12;
    for (int i = 0; i < count; ++i)
      steps.push_back({std::exp(2.0 * random.normal()), kLow - 2.0 + (kHigh - kLow + 4.0) * random.uniform(),
                       random.uniform() < 0.5 ? 1.0 : -1.0});
    const Steps h(0.3, std::move(steps));
    const Skimmed some = skim(h, 8), every = skim(h, 1);
    EXPECT_EQ(some.lowest, every.lowest) << "curve " << curve;
    skimmed += some.points;
    all += every.points;
  }
  EXPECT_LT(skimmed, all * 3 / 4);
}

TEST(BasinSearch, FewerPointsWhereTheCurveIsPlain) {
  constexpr double kPlain = -10.0;
  const BasinSearch all(kLow, kHigh, kSpacing, kStart);
  for (const double plain_below : {kPlain, kLow - 1.0, kHigh + 1.0}) {
    const BasinSearch search(kLow, kHigh, kSpacing, kStart, plain_below);
    const std::span<const double> scan = search.left_to_scan();
    EXPECT_EQ(scan.front(), kHigh);
    EXPECT_EQ(scan.back(), kLow);
    for (std::size_t i = 1; i < scan.size(); ++i) {
      EXPECT_LT(scan[i], scan[i - 1]);
      const bool is_plain = plain_below == kPlain && scan[i] < kPlain;
      EXPECT_LE(scan[i - 1] - scan[i], (is_plain ? 8.0 : 1.0) * kSpacing * (1.0 + 1e-12));
    }
    EXPECT_EQ(search.scan_points() < all.scan_points(), plain_below == kPlain);
  }
}

// h is a line in e^x below −10 and has its minimum there: two slopes of opposite signs, far apart, find it.
TEST(BasinSearch, FindsAMinimumWhereTheCurveIsPlain) {
  for (const double bottom : {-24.0, -20.3, -17.0, -12.5, -10.1}) {
    const auto h = [&](double x) {
      const double c = std::exp(x - bottom);
      return Sample{x, 2.0 + 0.5 * c * c - c, c * c - c, 0.0};
    };
    BasinSearch search(kLow, kHigh, kSpacing, kStart, -10.0);
    int points = 0;
    for (auto next = search.propose(kGain, kNearest); next; next = search.propose(kGain, kNearest)) {
      search.add(h(next->x));
      ASSERT_LT(++points, 100);
    }
    EXPECT_LT(search.best_value(), 1.5 * (1.0 + 2.0 * kGain)) << bottom;
  }
}

TEST(BasinSearch, TheScanGoesOnWhereTheRangeIsExtendedAndForgetsWhatItIsTold) {
  BasinSearch search(0.0, 8.0, 1.0, 4.0);
  const auto scan = [&] {
    while (search.scanning()) {
      const double x = search.propose(0.0, 0.0)->x;
      search.add({x, 1.0 + x, 1.0, 0.0});
    }
  };
  scan();
  search.extend(0.0, -3.0, 1.0);
  EXPECT_TRUE(search.scanning());
  scan();
  EXPECT_EQ(search.best().x, -3.0);
  search.forget_below(-1.0);
  EXPECT_EQ(search.samples().front().x, -1.0);
  EXPECT_EQ(search.best().x, -1.0);
}

TEST(BasinSearch, ANarrowRangeIsScannedByEightIntervals) {
  const BasinSearch search(-1.0, -0.9, kSpacing, -1.0);
  EXPECT_EQ(search.scan_points(), 9);
}

std::vector<double> places(const BasinSearch& search) {
  std::vector<double> x;
  for (const Sample& each : search.samples()) x.push_back(each.x);
  return x;
}

TEST(BasinSearch, AFinerSampleTakesThePlaceOfABlurredOneNearby) {
  BasinSearch search(kLow, kHigh, kSpacing, kStart);
  search.add({-5.0, 1.0, 0.1, 0.03});
  search.add({-4.99, 1.1, 0.1, 0.009});
  EXPECT_EQ(places(search), (std::vector<double>{-4.99}));
  EXPECT_EQ(search.best().value, 1.1) << "though the blurred one was lower";
}

// The scan's points have no slope but are blurred all the same.
TEST(BasinSearch, AFinerSampleTakesThePlaceOfAScannedOneNearby) {
  BasinSearch search(kLow, kHigh, kSpacing, kStart);
  search.add({-5.0, 1.0, {}, 0.1});
  search.add({-4.95, 1.1, 0.1, 0.03});
  EXPECT_EQ(places(search), (std::vector<double>{-4.95}));
}

TEST(BasinSearch, ABlurredSampleStaysWhereTheNewOneIsFarCoarserOrWithoutSlope) {
  BasinSearch search(kLow, kHigh, kSpacing, kStart);
  search.add({-5.0, 1.0, 0.1, 0.03});
  search.add({-4.9, 1.1, 0.1, 0.009});  // further away than the blur of the first
  search.add({-5.01, 1.1, 0.1, 0.3});   // coarser
  search.add({-5.02, 1.1, {}, 0.001});  // no slope
  EXPECT_EQ(places(search), (std::vector<double>{-5.02, -5.01, -5.0, -4.9}));
}

TEST(BasinSearch, ASampleAtTheSamePlaceReplacesTheOldOne) {
  BasinSearch search(kLow, kHigh, kSpacing, kStart);
  search.add({-5.0, 1.0, {}, 0.0});
  search.add({-5.0, 1.5, 0.2, 0.0});
  ASSERT_EQ(search.samples().size(), 1U);
  EXPECT_EQ(search.best().value, 1.5);
  EXPECT_EQ(search.best().slope, 0.2);
}

TEST(BasinSearch, TheBestIsARefinedSampleWhereThereIsOne) {
  BasinSearch search(kLow, kHigh, kSpacing, kStart);
  EXPECT_EQ(search.best_value(), 0.0);
  search.add({-5.0, 1.0, {}, 0.0});
  search.add({-6.0, 2.0, {}, 0.0});
  EXPECT_EQ(search.best().x, -5.0);
  search.add({-8.0, 3.0, 0.1, 0.0});
  EXPECT_EQ(search.best().x, -8.0);
}

// As my-hpo drives it: each sample is that of an x up to its blur away, and blurs shrink. Slopes of the last
// ones are those of x to 1e-5, so that the minimum is known to about that.
TEST(BasinSearch, FindsTheBottomFromBlurredSamples) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const double centre = -20.0 + 20.0 * random.uniform();
    const Steps h(1.0, {{0.7, centre - 1.5, -1.0}, {1.3, centre + 1.5, 1.0}});
    int refinements = 0;
    const Driven found = drive(
        [&](double x, bool scanning) {
          const double blur = scanning ? 0.1 : std::max(0.03 * std::pow(0.3, refinements++), 1e-5);
          const double at = x + blur * (2.0 * random.uniform() - 1.0);
          Sample sample{x, h.value(at), {}, blur};
          if (!scanning) sample.slope = h.slope(at);
          return sample;
        },
        40, 1e-6);
    EXPECT_TRUE(found.ended) << "seed " << seed;
    EXPECT_LE(found.best.value, lowest(h).value * (1.0 + 1e-5)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace yosida
