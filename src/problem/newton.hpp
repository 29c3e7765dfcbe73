#pragma once

#include "problem/data_term.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// min over a, the intercepts last, of  f(a) + ½ Σ c_j a_j² + linearᵀa  for a data term f.
struct InnerProblem {
  const DataTerm& data;
  const Vector& c;            // one per weight, 0 where unpenalised
  const Vector& linear;       // likewise
  double tolerance;           // on the norm of the gradient
  bool exact;                 // tight enough to be worth factorisations
  std::int64_t max_count;     // gradients and Hessian products
  double flops_per_gradient;  // of the problem the work is counted for
};

/// H x = b for H = ∇²f + diag c: the Hessian of an InnerProblem at the margins its state was made from.
struct HessianSystem {
  const DataTerm& data;
  const Vector& c;
  const Vector& state;
  double flops_per_gradient;

  /// What forming and factoring H costs, in gradients.
  double factor_work() const;
  /// True where one factorisation is possible and costs no more gradients than this.
  bool factors(double worth) const;
  Matrix matrix() const;
  /// H X = B by one factorisation; tolerance relative to the largest column. Only where factors().
  LinearReport solve_many(const Matrix& b, double tolerance, Matrix& x) const;
  /// By Cholesky where that is cheap beside a few dozen products, or where `exact` is asked for and the
  /// system is not large; elsewhere, and always where there are several outputs, by conjugate gradients from
  /// the x given, preconditioned by the diagonal of H where penalties differ. Stops at ‖b − Hx‖ ≤ tolerance.
  LinearReport solve(const Vector& b, double tolerance, std::int64_t max_count, bool exact, Vector& x) const;
};

/// Damped Newton from the a given. The margins are kept, so an iteration costs one
/// gradient beside its linear solve (as HessianSystem solves it; exact where the tolerance is tight).
InnerReport newton(const InnerProblem& problem, Vector& a);

/// x = H⁻¹b at the weights w, as BilevelProblem::hessian_solve wants it.
LinearReport hessian_solve(const DataTerm& data, const Vector& c, const Vector& w, const Vector& b,
                           const LinearOptions& options, double flops_per_gradient, Vector& x);

inline constexpr Index kMaxCholesky = 2500;
/// A factorisation that costs no more than so many gradients is cheaper than conjugate gradients.
inline constexpr double kCheapFactor = 40.0;
/// A relative tolerance below this asks for exact solves, unless an absolute one is given.
inline constexpr double kExactTolerance = 1e-8;

}  // namespace yosida
