#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/iterate.hpp"

namespace yosida {

/// A slope of so small a share of L_V is none, as far as a bound is concerned: at the flat ends of h its sign
/// is rounding.
inline constexpr double kNoSlope = 1e-10;

/// True where a bound keeps λ_j from following its slope; `validation` is L_V.
inline bool is_held(const Start& range, double lambda, double slope, Index j, double validation) {
  if (!range.is_bounded()) return false;
  const double none = kNoSlope * std::abs(validation);
  return (lambda <= range.low[j] && slope >= -none) || (lambda >= range.high[j] && slope <= none);
}

/// A loss that is no more than rounding of another, the one at the start say: it counts as 0.
inline bool is_rounding_of(double loss, double larger) {
  return std::abs(loss) <= std::numeric_limits<double>::epsilon() * larger;
}

/// What slopes are relative to: |L_V|, or 1 where L_V = `validation` is 0.
inline double slope_unit(double validation) { return validation != 0.0 ? std::abs(validation) : 1.0; }

/// max_j |g_j| × BilevelProblem::certificate_scale over the λ_j that no bound holds, in slope_unit()s: what
/// solvers stop on and certificates report. ∞ where g is not finite: no stop test holds there.
inline double scaled_hypergradient(const BilevelProblem& problem, const Start& range, const Vector& w,
                                   const Vector& lambda, const Vector& g, double validation) {
  if (!g.allFinite()) return std::numeric_limits<double>::infinity();
  Vector scale(lambda.size());
  problem.certificate_scale(w, lambda, scale);
  double worst = 0.0;
  for (Index j = 0; j < lambda.size(); ++j)
    if (!is_held(range, lambda[j], g[j], j, validation)) worst = std::max(worst, std::abs(g[j]) * scale[j]);
  return worst / slope_unit(validation);
}

}  // namespace yosida
