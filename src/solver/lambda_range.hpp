#pragma once

#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/bounds.hpp"
#include "yosida/solver/iterate.hpp"

namespace yosida {

/// λ ← P(λ − step), P onto the bounds. They would hide a NaN, which fails the run instead.
inline void descend_lambda(const Start& range, const Vector& step, Iterate& state) {
  state.lambda -= step;
  if (state.lambda.hasNaN()) {
    state.status = SolverStatus::failed;
    return;
  }
  range.clamp(state.lambda);
}

}  // namespace yosida
