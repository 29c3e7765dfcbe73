#pragma once

#include "yosida/linalg/types.hpp"

namespace yosida::search {

inline constexpr Index kSobolDimensions = 64;

/// The first points of the Sobol sequence in [0, 1)^dimensions, one a row, in the order of Antonov and
/// Saleev: the origin, the centre, … Throws InputError unless 1 ≤ dimensions ≤ kSobolDimensions.
Matrix sobol_points(Index dimensions, Index count);

}  // namespace yosida::search
