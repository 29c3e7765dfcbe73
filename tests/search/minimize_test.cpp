#include "yosida/search/minimize.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "yosida/error.hpp"

namespace yosida::search {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Space interval() { return Space({{-10.0, 5.0}}); }
double parabola(const Proposal& proposal) { return std::pow(proposal.x[0] - 1.0, 2); }

std::string refusal(const Limits& limits) {
  try {
    minimize(parabola, interval(), "random", limits);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(Minimize, GivesTheBestOfItsTrials) {
  const Result result = minimize(parabola, interval(), "random", {.trials = 30}, 3);
  ASSERT_EQ(result.trials.size(), 30u);
  double least = infinity;
  for (const Evaluation& trial : result.trials) {
    EXPECT_EQ(trial.value, parabola(trial.proposal));
    least = std::min(least, trial.value);
  }
  EXPECT_EQ(result.value, least);
  EXPECT_EQ(std::pow(result.x[0] - 1.0, 2), least);
}

TEST(Minimize, SeedDecides) {
  const auto first_x = [](std::uint64_t seed) {
    return minimize(parabola, interval(), "random", {.trials = 1}, seed).x[0];
  };
  EXPECT_EQ(first_x(1), first_x(1));
  EXPECT_NE(first_x(1), first_x(2));
}

TEST(Minimize, GridGetsTheNumberOfTrials) {
  const Result result = minimize(parabola, interval(), "grid", {.trials = 16});
  EXPECT_EQ(result.trials.size(), 16u);
  EXPECT_DOUBLE_EQ(result.x[0], 1.0);
  EXPECT_EQ(result.trials.back().proposal.x[0], 5.0);
}

TEST(Minimize, EndsWhereTheSamplerHasNothingLeft) {
  const auto grid = make_sampler("grid", interval(), {.trials = 3});
  EXPECT_EQ(minimize(parabola, *grid, {.trials = 10}).trials.size(), 3u);
}

// A trial takes longer than all the time there is: it is the only one, and with time enough it is not.
TEST(Minimize, EndsAtItsTime) {
  const auto slow = [](const Proposal& proposal) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return parabola(proposal);
  };
  const auto sampler = make_sampler("random", interval());
  EXPECT_EQ(minimize(slow, *sampler, {.seconds = 0.02}).trials.size(), 1u);
  EXPECT_EQ(minimize(slow, *sampler, {.trials = 3, .seconds = 3600.0}).trials.size(), 3u);
}

TEST(Minimize, FailedTrialsAreKeptAndNeverTheBest) {
  int trial = 0;
  const Result result = minimize(
      [&](const Proposal& proposal) {
        const double failures[] = {std::nan(""), -infinity, infinity};
        return ++trial % 4 == 0 ? parabola(proposal) : failures[trial % 4 - 1];
      },
      interval(), "tpe", {.trials = 40});
  EXPECT_EQ(result.trials.size(), 40u);
  EXPECT_TRUE(std::isfinite(result.value));
  EXPECT_EQ(result.x.size(), 1);

  const Result nothing =
      minimize([](const Proposal&) { return std::nan(""); }, interval(), "random", {.trials = 5});
  EXPECT_EQ(nothing.x.size(), 0);
  EXPECT_EQ(nothing.value, infinity);
  EXPECT_EQ(nothing.trials.size(), 5u);
}

TEST(Minimize, ExceptionsGoThrough) {
  int calls = 0;
  const auto sampler = make_sampler("random", interval());
  const Objective objective = [&](const Proposal&) -> double {
    if (++calls == 3) throw std::runtime_error("the objective's own");
    return 0.0;
  };
  EXPECT_THROW(minimize(objective, *sampler, {.trials = 10}), std::runtime_error);
  EXPECT_EQ(calls, 3);
}

TEST(Minimize, LimitsAreChecked) {
  EXPECT_EQ(refusal({.trials = 0}), "trials = 0: must be at least 1");
  EXPECT_EQ(refusal({.trials = -3}), "trials = -3: must be at least 1");
  EXPECT_NE(refusal({}).find("trials = none"), std::string::npos);
  EXPECT_NE(refusal({.seconds = 1.0}).find("trials = none"), std::string::npos);
  for (const double seconds : {0.0, -1.0, -infinity, std::nan("")})
    EXPECT_NE(refusal({.trials = 3, .seconds = seconds}).find("must be a number > 0"), std::string::npos);
  const auto sampler = make_sampler("random", interval());
  EXPECT_THROW(minimize(parabola, *sampler, {}), InputError);
  EXPECT_THROW(minimize(parabola, interval(), "no-such", {.trials = 3}), InputError);
}

}  // namespace
}  // namespace yosida::search
