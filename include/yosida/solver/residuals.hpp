#pragma once

#include "yosida/response/mean_anchored.hpp"
#include "yosida/solver/iterate.hpp"

namespace yosida {

/// The paper's residuals (its Proposition 2), with λ⁺ and w⁺ those of `state`:
///   r = w⁺ − λ⁺φ₁ − φ₀,  s = ρ (λ⁺ − λ) φ₁.
/// Writes r to `r` and both norms to `state`, and sets `converged` where, as ADMM solvers do,
///   ‖r‖ ≤ ε (√d + max(‖w⁺‖, ‖λ⁺φ₁ + φ₀‖))  and  ‖s‖ ≤ ε (√d + ‖u‖).
/// An ε of 0 never stops. The intercept takes no part.
void update_residuals(const BilevelProblem& problem, const MeanAnchored& phi, double lambda, double rho,
                      double epsilon, const Vector& u, Vector& r, Iterate& state);

}  // namespace yosida
