#pragma once

#include <span>
#include <vector>

#include "report/run_digest.hpp"

namespace yosida::report {

/// Which runs, by their place.
using Runs = std::vector<const RunDigest*>;

/// The median and the range of the validation loss over runs that differ by their seeds, after every
/// iteration that one of them has kept. A run that has ended stays at its last loss; one that diverged has
/// none from there on. `is_scaled`: of the scaled loss.
Curve curve_of(const Runs& runs, bool is_scaled);

/// The same curve with at most `limit` points, its extremes among them.
Curve thinned(const Curve& curve, std::size_t limit);

/// Samples of a trace, likewise.
std::vector<Sample> thinned(const std::vector<Sample>& samples, std::size_t limit);

/// What the runs of one seed tell of the validation loss as a function of λ. Each path and the curve have at
/// most `limit` points. `rows` are those of the runs.
Response response_of(std::uint64_t seed, const Runs& runs, const std::vector<std::size_t>& rows,
                     bool is_scaled, std::size_t limit);

}  // namespace yosida::report
