// What the models are for: fewer trials than random search needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "search/functions.hpp"
#include "yosida/random.hpp"
#include "yosida/search/minimize.hpp"

namespace yosida::search {
namespace {

using test::BoxFunction;
using test::TestFunction;

constexpr std::uint64_t seeds = 50;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

Result search(const TestFunction& function, const std::string& sampler, std::int64_t trials,
              std::uint64_t seed) {
  return minimize([&](const Proposal& proposal) { return function.value(proposal.x[0]); },
                  Space({{function.low, function.high}}), sampler, {.trials = trials}, seed);
}

/// The median over all seeds of the best of 60 trials, and how many seeds are within 1 % of the range by
/// then.
struct Standing {
  double best;
  int there = 0;
};
Standing at_60_trials(const TestFunction& function, const std::string& sampler) {
  Standing standing;
  std::vector<double> best;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    best.push_back(search(function, sampler, 60, seed).value);
    standing.there += function.is_near_minimum(best.back());
  }
  standing.best = median(best);
  return standing;
}

// The median number of trials until 1 % would be a poorer test: on Forrester's function most seeds are there
// within the 20 random trials that TPE starts with.
TEST(Tpe, BeatsRandomSearchAt60Trials) {
  for (const TestFunction& function : test::test_functions()) {
    const Standing random = at_60_trials(function, "random"), tpe = at_60_trials(function, "tpe");
    EXPECT_LT(tpe.best, random.best) << function.name;
    EXPECT_GT(tpe.there, random.there) << function.name;
  }
}

TEST(Tpe, IsRandomSearchForItsFirst20Trials) {
  const TestFunction& function = test::test_functions()[0];
  const Result tpe = search(function, "tpe", 30, 3), random = search(function, "random", 30, 3);
  for (std::size_t trial = 0; trial < 20; ++trial)
    EXPECT_EQ(tpe.trials[trial].proposal.x, random.trials[trial].proposal.x);
  EXPECT_NE(tpe.trials[20].proposal.x, random.trials[20].proposal.x);
}

TEST(Tpe, ScaleAndUnitsOfTheBoxDoNotMatter) {
  // e^x on a logarithmic scale is x on a linear one: the same proposals to rounding.
  const auto value = [](double t) { return std::pow(t - 1.0, 2); };
  const auto linear = make_sampler("tpe", Space({{-7.0, 4.0}}), {.seed = 2});
  const auto logarithmic =
      make_sampler("tpe", Space({{std::exp(-7.0), std::exp(4.0), Scale::logarithmic}}), {.seed = 2});
  for (int trial = 0; trial < 60; ++trial) {
    const Proposal a = *linear->ask(), b = *logarithmic->ask();
    // Proposals are made on the unit interval; its map to the box and back rounds to some 1e-15 of 11.
    ASSERT_NEAR(a.x[0], std::log(b.x[0]), 1e-13);
    linear->tell(a, value(a.x[0]));
    logarithmic->tell(b, value(a.x[0]));
  }
}

TEST(Tpe2, FindsEveryMinimumWithin60Trials) {
  for (const TestFunction& function : test::test_functions()) {
    EXPECT_EQ(at_60_trials(function, "tpe-2").there, static_cast<int>(seeds)) << function.name;
  }
}

/// The median over 20 seeds of the best of 100 trials in several dimensions.
double best_in_box(const BoxFunction& function, const std::string& sampler) {
  const Dimension side{function.low, function.high};
  const Space space(std::vector<Dimension>(static_cast<std::size_t>(function.dimensions), side));
  std::vector<double> best;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    best.push_back(minimize([&](const Proposal& proposal) { return function.value(proposal.x); }, space,
                            sampler, {.trials = 100}, seed)
                       .value);
  return median(best);
}

TEST(Tpe2, BeatsTpeAndTpeBeatsRandomInSeveralDimensions) {
  for (const BoxFunction& function : test::box_functions()) {
    const double random = best_in_box(function, "random"), tpe = best_in_box(function, "tpe");
    EXPECT_LT(tpe, random) << function.name;
    EXPECT_LT(best_in_box(function, "tpe-2"), tpe) << function.name;
  }
}

TEST(Tpe2, NoiseDoesNotLeadItAstray) {
  // Parabolas through noisy trials promise what is not there. The noise is a tenth of the function's range;
  // what counts is the noiseless value of the last 30 of 60 proposals, whose median is 0.07 for uniform
  // draws.
  std::vector<double> late;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto sampler = make_sampler("tpe-2", Space({{0.0, 1.0}}), {.seed = seed});
    Random noise(seed + 1000);
    for (int trial = 0; trial < 60; ++trial) {
      const Proposal proposal = *sampler->ask();
      const double value = std::pow(proposal.x[0] - 0.3, 2);
      if (trial >= 30) late.push_back(value);
      sampler->tell(proposal, value + 0.05 * noise.normal());
    }
  }
  EXPECT_LT(median(late), 0.04);
}

TEST(Tpe2, WallOfFailuresBesideTheMinimumIsNoObstacle) {
  // Everything below 0.3 fails, as a step size too large would; the minimum is at the wall.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Result result =
        minimize([](const Proposal& proposal) { return proposal.x[0] < 0.3 ? std::nan("") : proposal.x[0]; },
                 Space({{0.0, 1.0}}), "tpe-2", {.trials = 60}, seed);
    EXPECT_LT(result.value, 0.35) << seed;
  }
}

}  // namespace
}  // namespace yosida::search
