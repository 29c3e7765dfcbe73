#pragma once

#include "yosida/linalg/types.hpp"

namespace yosida {

/// To BilevelProblem::exact_curve, in the place of the number of a λ: along all λ together, which are equal.
inline constexpr Index kAllTogether = -1;

}  // namespace yosida
