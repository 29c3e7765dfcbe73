#pragma once

#include "yosida/linalg/types.hpp"

namespace yosida::search {

/// Values for a Gaussian process: mean 0 and variance 1, whatever unit they come in, all 0 where they are
/// equal. What is not finite counts as the worst. The order of values stays; those far above the median move
/// closer, by logarithm, so that a few huge ones (training that diverged) do not make the others look the
/// same.
Vector standardised(Vector values);

}  // namespace yosida::search
