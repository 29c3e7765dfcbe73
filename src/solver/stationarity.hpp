#pragma once

#include <algorithm>
#include <cmath>

#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/iterate.hpp"

namespace yosida {

/// True where a bound keeps λ_j from following its slope.
inline bool is_held(const Start& range, double lambda, double slope, Index j) {
  if (!range.is_bounded()) return false;
  return (lambda <= range.low[j] && slope >= 0.0) || (lambda >= range.high[j] && slope <= 0.0);
}

/// max_j |g_j| × BilevelProblem::certificate_scale over the λ_j that no bound holds, relative to L_V =
/// `validation`: what solvers stop on and certificates report.
inline double scaled_hypergradient(const BilevelProblem& problem, const Start& range, const Vector& w,
                                   const Vector& lambda, const Vector& g, double validation) {
  Vector scale(lambda.size());
  problem.certificate_scale(w, lambda, scale);
  double worst = 0.0;
  for (Index j = 0; j < lambda.size(); ++j)
    if (!is_held(range, lambda[j], g[j], j)) worst = std::max(worst, std::abs(g[j]) * scale[j]);
  return worst / std::abs(validation);
}

}  // namespace yosida
