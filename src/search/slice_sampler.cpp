#include "search/slice_sampler.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace yosida::search {
namespace {

constexpr double kWidth = 1.0;
/// Deviation: Spearmint steps out up to 1000 times and shrinks without end.
constexpr int kMaxStepsOut = 50;
/// Each takes away a quarter of the bracket on average or more: 200 shrink it below rounding.
constexpr int kMaxStepsIn = 200;

/// Moves one coordinate.
void slice_coordinate(LogDensity log_density, Index coordinate, Random& random, Vector& x) {
  const double start = x[coordinate];
  const auto at = [&](double value) {
    x[coordinate] = value;
    const double density = log_density(x);
    return std::isnan(density) ? -std::numeric_limits<double>::infinity() : density;
  };
  double upper = start + kWidth * random.uniform();
  double lower = upper - kWidth;
  const double level = at(start) + std::log(1.0 - random.uniform());
  for (int step = 0; step < kMaxStepsOut && at(lower) > level; ++step) lower -= kWidth;
  for (int step = 0; step < kMaxStepsOut && at(upper) > level; ++step) upper += kWidth;
  for (int step = 0; step < kMaxStepsIn; ++step) {
    const double value = lower + (upper - lower) * random.uniform();
    if (at(value) > level) return;
    (value < start ? lower : upper) = value;
  }
  x[coordinate] = start;
}

}  // namespace

void slice_sweep(LogDensity log_density, Random& random, Vector& x) {
  std::vector<Index> order(static_cast<std::size_t>(x.size()));
  std::iota(order.begin(), order.end(), Index{0});
  random.shuffle(order);
  for (const Index coordinate : order) slice_coordinate(log_density, coordinate, random, x);
}

}  // namespace yosida::search
