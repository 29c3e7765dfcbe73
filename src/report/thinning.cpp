#include "report/thinning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace yosida::report {
namespace {

/// Adds to `kept` the places in [begin, end) that a thinned series keeps.
void keep_of_part(std::size_t begin, std::size_t end, const std::vector<std::span<const double>>& series,
                  std::vector<std::size_t>& kept) {
  std::vector<std::size_t> places = {begin, end - 1};
  for (const std::span<const double> values : series) {
    std::size_t smallest = end, largest = end;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(values[i])) continue;
      if (smallest == end || values[i] < values[smallest]) smallest = i;
      if (largest == end || values[i] > values[largest]) largest = i;
    }
    if (smallest < end) places.insert(places.end(), {smallest, largest});
  }
  std::sort(places.begin(), places.end());
  kept.insert(kept.end(), places.begin(), std::unique(places.begin(), places.end()));
}

std::vector<std::size_t> kept_of(std::span<const double> position,
                                 const std::vector<std::span<const double>>& series, std::size_t parts) {
  const double first = position.front(), width = position.back() - first;
  const auto part_of = [&](std::size_t i) {
    const double share = width > 0.0 && std::isfinite(width) ? (position[i] - first) / width : 0.0;
    return std::min(parts - 1, static_cast<std::size_t>(share * static_cast<double>(parts)));
  };
  std::vector<std::size_t> kept;
  for (std::size_t begin = 0, end = 0; begin < position.size(); begin = end) {
    while (end < position.size() && part_of(end) == part_of(begin)) ++end;
    keep_of_part(begin, end, series, kept);
  }
  return kept;
}

}  // namespace

std::vector<std::size_t> keep_extremes(std::span<const double> position,
                                       const std::vector<std::span<const double>>& series,
                                       std::size_t limit) {
  std::vector<std::size_t> kept(position.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  // Where curves only rise or fall, ends and extremes are the same points: more parts fit than the worst
  // case allows.
  for (std::size_t parts = std::max<std::size_t>(limit / 2, 1); kept.size() > limit; parts = parts * 4 / 5) {
    kept = kept_of(position, series, std::max<std::size_t>(parts, 1));
    if (parts <= 1) break;
  }
  return kept;
}

}  // namespace yosida::report
