#pragma once

#include <vector>

#include "yosida/response/mean_anchored.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/settings.hpp"

namespace yosida {

/// Which gradient the w-update of the simplified algorithm takes.
enum class WGradient {
  shared,  ///< ∇L_T(v, λ), the v-update's: the paper, two gradients an iteration
  own,     ///< ∇L_T(w, λ), three gradients an iteration
};

/// What the simplified algorithm carries from step to step, with or without backtracking.
struct SimplifiedState : Iterate {
  Vector v, u;
  MeanAnchored phi;
  Start range;
  Vector g, g_w, p, r, trial;
  double first_gradient = 0.0;  // ‖∇L_T(v, λ)‖ of the first step
};
SimplifiedState simplified_init(const BilevelProblem& problem, const Start& start, const char* method);
/// Withdraws `converged` unless v and λ have come to rest too:
///   ‖∇L_T(v, λ)‖ ≤ ε ‖its first value‖  and  |slope| ≤ ε ‖φ₁‖ ‖∇L_V(v⁺)‖.
/// Deviation: the paper stops on r and s alone, which is enough where every update is solved to its
/// minimum. A single gradient step makes both small just by being small.
void require_rest(SimplifiedState& state, double epsilon, double train_gradient, double slope,
                  double validation_gradient);

/// The paper's Algorithm "Simplified MY-HPO" with constant steps: one gradient step for each of
/// the updates of MY-HPO. Two gradients an iteration.
struct MyHpoC {
  struct Settings {
    double alpha = 0.001;
    double beta = 0.001;
    double delta = 0.001;
    double rho = 1.0;
    double epsilon = 1e-8;
    WGradient w_gradient = WGradient::shared;
  };
  using State = SimplifiedState;
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
