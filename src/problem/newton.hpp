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
  bool exact;                 // tight enough to be worth factorisations
  std::int64_t max_count;     // gradients and Hessian products
  double flops_per_gradient;  // of the problem the work is counted for
};

/// H x = b for H = 1/N Σ h_i x_i x_iᵀ + c I over a and b: the Hessian of an InnerProblem, h_i = ℓ″ at its
/// margins, `curvatures` = h/N.
struct HessianSystem {
  const Design& x;
  bool intercept;
  double c;
  const Vector& curvatures;
  double flops_per_gradient;

  /// out = H p, one pass.
  void apply(const Vector& p, Vector& out) const;
  /// What forming and factoring H costs, in gradients.
  double factor_work() const;
  /// By Cholesky where that is cheap beside a few dozen products, or where `exact` is asked for and the
  /// system is not large; by conjugate gradients from the x given elsewhere. Stops at ‖b − Hx‖ ≤ tolerance.
  LinearReport solve(const Vector& b, double tolerance, std::int64_t max_count, bool exact, Vector& x_) const;
};

/// Damped Newton from the a (and b, last) given. The margins are kept, so an iteration costs one
/// gradient beside its linear solve (as HessianSystem solves it; exact where the tolerance is tight).
InnerReport newton(const InnerProblem& problem, Vector& a);

inline constexpr Index kMaxCholesky = 2500;
/// A relative tolerance below this asks for exact solves, unless an absolute one is given.
inline constexpr double kExactTolerance = 1e-8;

}  // namespace yosida
