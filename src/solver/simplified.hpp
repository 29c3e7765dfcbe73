#pragma once

#include <string>
#include <vector>

#include "yosida/settings.hpp"
#include "yosida/solver/simplified.hpp"

// What (C) and (BT) share beside their steps.

namespace yosida {

SimplifiedState simplified_init(const BilevelProblem& problem, const Start& start, const char* method);

/// state.p = ∇L_T + u + ρ (w − v⁺), the direction of the w-update (λφ₁ + φ₀ = v⁺), from the gradient
/// state.g that v took.
/// Deviation: with `own`, ∇L_T is taken at w: the shared one is not the gradient of w's objective.
void w_direction(const BilevelProblem& problem, WGradient which, double rho, SimplifiedState& state);

/// A converged state is running again unless v and λ have come to rest too:
///   ‖∇L_T(v, λ)‖ ≤ ε ‖its first value‖  and  |slope| ≤ ε ‖φ₁‖ ‖∇L_V(v⁺)‖.
/// Deviation: the paper stops on r and s alone, which is enough where every update is solved to its
/// minimum. A single gradient step makes both small just by being small.
void require_rest(SimplifiedState& state, double epsilon, double train_gradient, double slope,
                  double validation_gradient);

/// The table of settings; the meanings of the steps and the origins of their defaults differ.
template <typename S>
std::vector<Setting<S>> simplified_table(const std::string& step, const std::string& alpha_origin,
                                         const std::string& beta_origin, const std::string& delta_origin) {
  return {
      settings::real("alpha", &S::alpha, LowerLimit::positive(), step + " on v", alpha_origin),
      settings::real("beta", &S::beta, LowerLimit::positive(), step + " on w", beta_origin),
      settings::real("delta", &S::delta, LowerLimit::non_negative(), step + " on λ", delta_origin),
      settings::real("rho", &S::rho, LowerLimit::non_negative(), "weight of the proximal terms",
                     "the paper, all experiments"),
      settings::real("epsilon", &S::epsilon, LowerLimit::non_negative(),
                     "stop when ‖r‖, ‖s‖ and the gradients are under it, all relative; 0 never stops",
                     "ours: small, so that in practice the budget decides, as in the paper"),
      settings::choice("w_gradient", &S::w_gradient, {"shared", "own"},
                       "the gradient of the w-update: v's (2 gradients an iteration) or w's own (3)",
                       "the paper: shared"),
  };
}

}  // namespace yosida
