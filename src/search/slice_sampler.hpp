#pragma once

#include "yosida/linalg/function_ref.hpp"
#include "yosida/linalg/types.hpp"
#include "yosida/random.hpp"

namespace yosida::search {

/// The logarithm of a density, up to a constant; −∞ where there is none.
using LogDensity = FunctionRef<double(const Vector&)>;

/// One sweep of slice sampling (Neal 2003) over the coordinates of x, in random order: a bracket of width 1
/// steps out, then shrinks. Takes a bounded number of steps whatever the density; a coordinate for which they
/// do not suffice stays where it was.
void slice_sweep(LogDensity log_density, Random& random, Vector& x);

}  // namespace yosida::search
