#pragma once

#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// The largest curvature of L_T(·, λ), by power iterations on its Hessian that go on from where the last
/// call ended: what steps of 1/L need, when λ moves little from one to the next.
class LargestCurvature {
 public:
  /// Looks at w = 0, where the curvature of a loss of margins is largest. At least half of the truth even
  /// where eigenvalues are close, so that steps of its inverse do not blow up.
  double operator()(const BilevelProblem& problem, const Vector& lambda);

 private:
  Vector zero_, direction_, product_;
};

}  // namespace yosida
