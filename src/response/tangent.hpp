#pragma once

#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// The tangent of the best response at λ, for one hyperparameter:
///   G(λ') = v + Φ₁ (λ' − λ),   Φ₁ = dw*/dλ = −H⁻¹ C,   H = ∇²_ww L_T, C = ∇²_wλ L_T at v = w*(λ).
/// Its value at λ is the paper's (G(λ) = v); its slope is the true one, so that the derivative of
/// L_V(G(λ')) at λ is the hypergradient.
struct Tangent {
  double lambda = 0.0;
  Vector v;
  Vector phi1;  ///< empty before it is anchored

  /// Solves H Φ₁ = −C from the Φ₁ given (its old value, or a neighbour's) to `tolerance`, relative.
  LinearReport anchor(const BilevelProblem& problem, double tolerance, SolveMemory* memory = nullptr);
  /// out = G(λ'), or v where there is no slope yet.
  void respond(double at, Vector& out) const;
};

}  // namespace yosida
