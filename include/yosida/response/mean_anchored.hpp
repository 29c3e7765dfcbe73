#pragma once

#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// The paper's best response G_φ(λ) = λ φ₁ + φ₀, anchored at the mean of v (its eq. for Step 1):
///   φ₀ = v̄ 1,  φ₁ = (v − φ₀) / λ,  so that G_φ(λ) = v.
/// The intercept takes no part: it is a constant of the response.
struct MeanAnchored {
  Vector phi0;
  Vector phi1;
  /// All of v equal but for rounding, ‖v − φ₀‖ ≤ 1e-12 ‖v̄ 1‖: the response does not depend on λ.
  bool is_flat = false;

  void anchor(const BilevelProblem& problem, const Vector& v, double lambda);
  /// out = λ φ₁ + φ₀
  void respond(double lambda, Vector& out) const { out.noalias() = lambda * phi1 + phi0; }
};

}  // namespace yosida
