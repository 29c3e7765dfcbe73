#pragma once

#include "yosida/response/linear_response.hpp"

namespace yosida {

/// The paper's best response G_φ(λ) = λ φ₁ + φ₀, anchored at the mean of v (its eq. for Step 1):
///   φ₀ = v̄ 1,  φ₁ = (v − φ₀) / λ,  so that G_φ(λ) = v.
/// The intercept takes no part: it is a constant of the response. Flat where all of v is equal but for
/// rounding, ‖v − φ₀‖ ≤ 1e-12 ‖v̄ 1‖.
void anchor_at_mean(const BilevelProblem& problem, const Vector& v, double lambda, LinearResponse& response);

}  // namespace yosida
