#pragma once

#include "yosida/response/linear_response.hpp"
#include "yosida/solver/iterate.hpp"

namespace yosida {

/// The paper's residuals (its Proposition 2), with λ⁺ and w⁺ those of `state`:
///   r = w⁺ − λ⁺φ₁ − φ₀,  s = ρ (λ⁺ − λ) φ₁.
/// Writes r to `r` and both norms to `state`, and says converged where
///   ‖r‖ ≤ ε max(‖w⁺‖, ‖λ⁺φ₁ + φ₀‖)  and  ‖s‖ ≤ ε max(‖u‖, ρ ‖w⁺‖, ρ ‖λ⁺φ₁ + φ₀‖).
/// Deviation: ADMM solvers add an absolute part, ε √d. Here it would be met at once where y, and so w,
/// is small; the size of w itself takes its place.
/// An ε of 0 never stops. The intercept takes no part.
void update_residuals(const BilevelProblem& problem, const LinearResponse& phi, double lambda, double rho,
                      double epsilon, const Vector& u, Vector& r, Iterate& state);

}  // namespace yosida
