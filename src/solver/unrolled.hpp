#pragma once

#include "yosida/solver/unrolled.hpp"

namespace yosida {

UnrolledState unrolled_init(const BilevelProblem& problem, const Start& start, const char* method);

/// forward_hypergradient or reverse_hypergradient: moves w by the inner steps and returns L_V(w_T).
using UnrolledHypergradient = double(const BilevelProblem& problem, const Vector& lambda, double alpha,
                                     std::int64_t steps, Vector& w, Vector& gradient);

/// One iteration of both methods, which differ in how they compute the hypergradient.
void unrolled_step(const BilevelProblem& problem, const UnrolledSettings& settings,
                   UnrolledHypergradient* hypergradient, UnrolledState& state);

}  // namespace yosida
