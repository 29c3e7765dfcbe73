#pragma once

#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida {

/// The start with bounds: those it has, or the data's own, widened to hold it. What that costs is work of
/// the problem given.
inline Start with_bounds(const BilevelProblem& problem, Start start) {
  if (start.is_bounded()) return start;
  const LambdaBounds data = default_bounds(problem, start.lambda[0]);
  start.low = start.lambda.cwiseMin(data.low);
  start.high = start.lambda.cwiseMax(data.high);
  return start;
}

/// λ ← P(λ − step), P onto the bounds. They would hide a NaN, which fails the run instead.
inline void descend_lambda(const Start& range, const Vector& step, Iterate& state) {
  state.lambda -= step;
  if (state.lambda.hasNaN()) {
    state.failed = true;
    return;
  }
  range.clamp(state.lambda);
}

}  // namespace yosida
