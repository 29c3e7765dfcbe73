#pragma once

#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/random.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"

namespace YOSIDA_EXPORT yosida {

/// Stochastic hyperparameter optimisation (Lorraine and Duvenaud 2018), the paper's Algorithm
/// "SHO (local)": gradient steps on the hypernetwork G_φ(λ) = λ φ₁ + φ₀ and on λ in turn.
/// Two gradients an iteration. It returns w = G_φ(λ).
struct Sho {
  static constexpr const char* name = "sho";
  /// How λ is moved along its gradient.
  enum class Optimizer { plain, adam };
  struct Settings {
    double alpha = 0.001;
    double beta = 0.01;
    double sigma = 1e-4;
    double phi_scale = 0.0;
    Optimizer lambda_optimizer = Optimizer::plain;
  };
  struct State : Iterate {
    Vector phi0, phi1;
    Start range;
    Random random{0};
    double moment1 = 0.0, moment2 = 0.0;  // Adam's, on λ
    std::int64_t steps = 0;
    Vector g, w_hat, lambda_hat;
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  /// A random φ is no combination of training rows.
  bool stays_in_row_space() const { return settings.phi_scale == 0.0; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
