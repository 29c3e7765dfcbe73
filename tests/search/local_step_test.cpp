#include "search/local_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "yosida/random.hpp"

namespace yosida::search {
namespace {

constexpr double failed = std::numeric_limits<double>::quiet_NaN();

TrialHistory on_line(const std::vector<double>& places, const std::function<double(double)>& value) {
  TrialHistory history(1);
  for (const double t : places) history.add(Vector::Constant(1, t));
  for (std::size_t i = 0; i < places.size(); ++i) history.tell(static_cast<Index>(i), value(places[i]));
  return history;
}

TEST(LocalStep, OneStepFindsTheBottomOfAParabola) {
  const auto step =
      local_step(on_line({0.9, 0.1, 0.45}, [](double t) { return 3.0 + 7.0 * std::pow(t - 0.37, 2); }));
  ASSERT_TRUE(step);
  EXPECT_NEAR((*step)[0], 0.37, 1e-14);  // slopes of numbers near 3: rounding 1e-16 · 3 / 0.35
}

TEST(LocalStep, ValleyWithTheLowestPromiseIsTaken) {
  // The floor of the left valley is the best trial, the right one's parabola goes deeper.
  const auto value = [](double t) {
    return t < 0.5 ? -1.0 + std::pow(t - 0.2, 2) : -3.0 + 300.0 * std::pow(t - 0.75, 2);
  };
  const auto step = local_step(on_line({0.05, 0.2, 0.4, 0.6, 0.7, 0.9}, value));
  ASSERT_TRUE(step);
  EXPECT_NEAR((*step)[0], 0.75, 1e-12);  // slopes of up to 50: rounding in their difference
}

TEST(LocalStep, NothingWhereNothingIsPromised) {
  EXPECT_FALSE(local_step(on_line({0.1, 0.5}, [](double t) { return t; })));          // two trials
  EXPECT_FALSE(local_step(on_line({0.1, 0.5, 0.9}, [](double t) { return t; })));     // no floor inside
  EXPECT_FALSE(local_step(on_line({0.1, 0.5, 0.9}, [](double) { return 4.0; })));     // flat
  EXPECT_FALSE(local_step(on_line({0.1, 0.5, 0.9}, [](double) { return failed; })));  // no values
  EXPECT_FALSE(local_step(on_line({0.5, 0.5, 0.5}, [](double) { return 4.0; })));     // one place
  EXPECT_FALSE(local_step(on_line({0.2, 0.5, 0.8}, [](double t) {                     // at the bottom
    return std::pow(t - 0.5, 2);
  })));
}

TEST(LocalStep, BracketsNarrowAndEnd) {
  // From three trials to the end of its own accord, each step inside the bracket and on no trial.
  std::vector<double> places = {0.1, 0.35, 0.9};
  const auto value = [](double t) { return std::abs(t - 0.3137); };  // no parabola fits
  for (int steps = 0; steps < 60; ++steps) {
    const auto step = local_step(on_line(places, value));
    if (!step) break;
    for (const double t : places) EXPECT_GE(std::abs((*step)[0] - t), 1e-6);
    places.push_back((*step)[0]);
  }
  EXPECT_LT(places.size(), 60u);
  double best = 1.0;
  for (const double t : places) best = std::min(best, value(t));
  EXPECT_LT(best, 1e-3);
}

TEST(LocalStep, FailedAndOpenTrialsBelongToNoParabola) {
  EXPECT_FALSE(local_step(
      on_line({0.1, 0.3, 0.5, 0.9}, [](double t) { return t == 0.3 ? failed : std::pow(t - 0.6, 2); })));
  TrialHistory open = on_line({0.1, 0.5, 0.9}, [](double t) { return std::pow(t - 0.37, 2); });
  ASSERT_TRUE(local_step(open));
  open.add(*local_step(open));
  EXPECT_FALSE(local_step(open)) << "the step is open: not again";
}

TEST(LocalStep, HugeValuesGiveNoStepOrOneInside) {
  for (const double scale : {1e307, 1e-307, -1e307}) {
    const auto step =
        local_step(on_line({0.1, 0.5, 0.9}, [&](double t) { return scale * std::pow(t - 0.37, 2); }));
    EXPECT_TRUE(!step || ((*step)[0] >= 0.0 && (*step)[0] <= 1.0));
  }
}

TrialHistory in_box(Index dimensions, Index trials, const std::function<double(const Vector&)>& value) {
  TrialHistory history(dimensions);
  Random random(11);
  for (Index trial = 0; trial < trials; ++trial) {
    Vector unit(dimensions);
    for (double& each : unit) each = random.uniform();
    history.add(unit);
    history.tell(trial, value(unit));
  }
  return history;
}

TEST(LocalStep, SeveralDimensionsReachTheBottomOfABowl) {
  const Vector bottom = (Vector(4) << 0.4, 0.5, 0.6, 0.45).finished();
  const auto value = [&](const Vector& unit) {
    const Vector d = unit - bottom;
    return d[0] * d[0] + 2.0 * d[1] * d[1] + 3.0 * d[2] * d[2] + 4.0 * d[3] * d[3];
  };
  TrialHistory history = in_box(4, 9, value);
  // The fit is exact from the first step on; a step goes a quarter of the way its trials span at most.
  double best = 1.0;
  for (int steps = 0; steps < 6 && best > 1e-20; ++steps) {
    const auto step = local_step(history);
    ASSERT_TRUE(step);
    history.add(*step);
    history.tell(history.size() - 1, value(*step));
    best = std::min(best, value(*step));
  }
  EXPECT_LT(best,
            1e-20);  // places to rounding times the condition of the fit, squared: (1e-16 · 1e4)² and room
}

TEST(LocalStep, SeveralDimensionsNeedEnoughTrialsThatDidNotFail) {
  const auto bowl = [](const Vector& unit) { return unit.squaredNorm(); };
  EXPECT_FALSE(local_step(in_box(3, 6, bowl)));
  EXPECT_TRUE(local_step(in_box(3, 7, bowl)));
  int trial = 0;
  EXPECT_FALSE(
      local_step(in_box(3, 12, [&](const Vector& unit) { return ++trial % 2 ? failed : bowl(unit); })));
}

TEST(LocalStep, SeveralDimensionsStayInTheBox) {
  const auto step = local_step(in_box(3, 30, [](const Vector& unit) { return unit.sum(); }));
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->minCoeff() >= 0.0 && step->maxCoeff() <= 1.0);
}

}  // namespace
}  // namespace yosida::search
