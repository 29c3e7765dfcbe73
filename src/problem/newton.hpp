#pragma once

#include "yosida/linalg/design.hpp"
#include "yosida/model/loss.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// min over a and the intercept b of  1/N Σ ℓ(x_iᵀa + b, y_i) + c/2 ‖a‖² + linearᵀa
struct InnerProblem {
  const Design& x;
  const Vector& y;
  const Loss& loss;
  bool intercept;
  double c;
  const Vector& linear;       // length x.cols()
  double tolerance;           // on the norm of the gradient
  std::int64_t max_count;     // gradients and Hessian products
  double flops_per_gradient;  // of the problem the work is counted for
};

/// Damped Newton from the a (and b, last) given. The margins are kept, so an iteration costs one
/// gradient beside its linear solve: Cholesky up to kMaxCholesky unknowns, conjugate gradients above.
InnerReport newton(const InnerProblem& problem, Vector& a);

inline constexpr Index kMaxCholesky = 2500;

}  // namespace yosida
