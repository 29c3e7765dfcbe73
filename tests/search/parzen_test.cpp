#include "search/parzen.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace yosida::search {
namespace {

/// Its own normal at an end of the interval loses half of its mass, so that truncation matters.
ParzenMixture mixture() { return {{0.0, 0.3, 0.5, 0.95}, {0.05, 0.01, 1.0, 0.2}, {3.0, 1.0, 0.5, 2.0}}; }

/// By Simpson's rule.
double mass(const ParzenMixture& of, double from, double to) {
  constexpr int steps = 2000;
  double sum = 0.0;
  for (int i = 0; i <= steps; ++i) {
    const double weight = i == 0 || i == steps ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
    sum += weight * std::exp(of.log_density(from + (to - from) * i / steps));
  }
  return sum * (to - from) / (3.0 * steps);
}

TEST(ParzenMixture, DensityIntegratesToOne) {
  // Simpson's error is h⁴ f⁗/180: (5e-4)⁴ · 3/(0.01)⁵ · √(2/π)/180 ≈ 1e-5 at the narrowest component, much
  // less in the sum, where errors of both signs cancel.
  EXPECT_NEAR(mass(mixture(), 0.0, 1.0), 1.0, 1e-6);
}

TEST(ParzenMixture, SamplesHaveTheDensity) {
  const ParzenMixture of = mixture();
  Random random(3);
  constexpr int draws = 200'000, cells = 40;
  std::vector<int> counts(cells);
  for (int i = 0; i < draws; ++i) {
    const double t = of.sample(random);
    ASSERT_TRUE(t >= 0.0 && t < 1.0);
    ++counts[static_cast<std::size_t>(t * cells)];
  }
  for (int cell = 0; cell < cells; ++cell) {
    const double expected = draws * mass(of, 1.0 * cell / cells, (cell + 1.0) / cells);
    // Five standard deviations of a Poisson count: one cell in 10⁶ fails by chance, and the seed is fixed.
    EXPECT_NEAR(counts[static_cast<std::size_t>(cell)], expected, 5.0 * std::sqrt(expected)) << cell;
  }
}

TEST(ParzenMixture, FarPointsHaveFiniteDensities) {
  TrialHistory history(1);
  for (int i = 0; i < 200; ++i) history.add(Vector::Zero(1));
  const Split split = split_trials(history, 4, 25);
  for (const bool below : {true, false}) {
    const ParzenMixture of = hyperopt_mixture(history, 0, split, below, 1.0);
    for (const double t : {0.0, 0.5, 1.0}) EXPECT_TRUE(std::isfinite(of.log_density(t)));
  }
}

}  // namespace
}  // namespace yosida::search
