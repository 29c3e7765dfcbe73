#pragma once

#include <cstdint>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/batch_draws.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/largest_curvature.hpp"

namespace YOSIDA_EXPORT yosida {

/// What SOBA and SABA share: settings, and the three variables with their directions.
struct SingleLoop {
  struct Settings {
    double alpha = 0.0;
    double beta = 0.0;
    std::int64_t batch = 64;
    std::int64_t steps = 0;
  };
  struct State : Iterate {
    Start range;
    std::int64_t k = 0;
    double beta = 0.0;
    Vector u;                           // → −H⁻¹∇L_V, the adjoint
    Vector train, product, validation;  // ∇L_T, Hu, ∇L_V
    Vector cross, direct;               // Cᵀu, ∂L_V/∂λ
    BatchDraws draws;
    Curvatures curvatures;
  };
};

/// SOBA (Dagréou, Ablin, Vaiter and Moreau 2022): w, the adjoint u = −H⁻¹∇L_V and λ move side by side, each
/// by one gradient step on a batch of rows. Any number of hyperparameters.
struct Soba {
  static constexpr const char* name = "soba";
  struct Settings : SingleLoop::Settings {
    double decay = 0.5;
  };
  using State = SingleLoop::State;
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  /// u follows ∇L_V, which is no combination of training rows.
  bool stays_in_row_space() const { return false; }
  bool trains_answer() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
