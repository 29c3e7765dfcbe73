#pragma once

#include "yosida/solver/unrolled.hpp"

namespace yosida {

UnrolledState unrolled_init(const BilevelProblem& problem, const Start& start, const char* method);

/// α where it is given, else 1/L at this λ.
double inner_step_size(const BilevelProblem& problem, const UnrolledSettings& settings, UnrolledState& state);

}  // namespace yosida
