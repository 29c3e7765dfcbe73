#pragma once

#include <string>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// A best response that is linear in one hyperparameter, G(λ) = λ φ₁ + φ₀. What it is made of is
/// exchangeable: see ResponseKind.
struct LinearResponse {
  Vector phi0;
  Vector phi1;
  /// The response does not depend on λ.
  bool is_flat = false;

  /// out = λ φ₁ + φ₀
  void respond(double lambda, Vector& out) const { out.noalias() = lambda * phi1 + phi0; }
};

/// Where the slope φ₁ comes from; φ₀ follows from G(λ) = v, v = w*(λ).
enum class ResponseKind {
  mean_anchored,  ///< the paper: φ₀ = v̄ 1, so φ₁ = (v − v̄ 1)/λ, whatever the problem
  tangent,        ///< φ₁ = dw*/dλ = −H⁻¹C: the true one
  hypernetwork,  ///< φ₁ learned by gradient steps on L_T(G(λ̂), λ̂) at λ̂ around λ, as SHO learns it
};
/// Their names, in the order of the values.
const std::vector<std::string>& response_names();

/// Anchors the response at v = w*(λ); a hypernetwork goes on from the φ₁ it has.
void anchor(ResponseKind kind, const BilevelProblem& problem, const Vector& v, double lambda,
            LinearResponse& response);

}  // namespace yosida
