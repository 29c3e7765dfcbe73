#include "search/grid.hpp"

#include <cmath>

namespace yosida::search {
namespace {

/// k^D ≤ limit, without overflow.
bool fits(std::int64_t k, Index dimensions, std::int64_t limit) {
  for (Index j = 0; j < dimensions && k > 1; ++j) limit /= k;
  return limit >= 1;
}

std::int64_t points_per_dimension(std::int64_t trials, Index dimensions) {
  if (dimensions == 1) return trials;
  // The root is right to rounding; the integers decide.
  auto k = std::max<std::int64_t>(
      1, std::llround(std::pow(static_cast<double>(trials), 1.0 / static_cast<double>(dimensions))));
  while (k > 1 && !fits(k, dimensions, trials)) --k;
  while (fits(k + 1, dimensions, trials)) ++k;
  return k;
}

}  // namespace

const std::vector<Setting<Grid::Settings>>& Grid::table() {
  static const std::vector<Setting<Settings>> rows;
  return rows;
}

Grid::Grid(const Space& space, const SamplerOptions& options, const Settings&)
    : space_(space),
      points_(points_per_dimension(options.trials, space.size())),
      next_(static_cast<std::size_t>(space.size()), 0) {}

std::optional<std::int64_t> Grid::size() const {
  std::int64_t all = 1;
  for (Index j = 0; j < space_.size(); ++j) all *= points_;  // ≤ the trials it was made for
  return all;
}

std::optional<Proposal> Grid::ask() {
  if (next_.empty()) return std::nullopt;
  Vector unit(space_.size());
  for (Index j = 0; j < unit.size(); ++j)
    unit[j] = points_ == 1 ? 0.5
                           : static_cast<double>(next_[static_cast<std::size_t>(j)]) /
                                 static_cast<double>(points_ - 1);
  auto last = next_.rbegin();
  while (last != next_.rend() && ++*last == points_) *last++ = 0;
  if (last == next_.rend()) next_.clear();
  return open_.open(space_.from_unit(unit));
}

void Grid::tell(const Proposal& proposal, double) { open_.close(proposal); }

}  // namespace yosida::search
