#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace yosida::report {

/// At most `limit` (which must be at least 2, and 2 more for each series) of the places of `position` (which
/// never falls), in order and all of them where they are no more. `position` is cut into equal parts; of each
/// are kept the first place, the last, and those where a series has its smallest and its largest finite
/// value. So no extreme of a series is lost.
std::vector<std::size_t> keep_extremes(std::span<const double> position,
                                       const std::vector<std::span<const double>>& series, std::size_t limit);

}  // namespace yosida::report
