#pragma once

#include <vector>

#include "yosida/export.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/simplified.hpp"

namespace YOSIDA_EXPORT yosida {

/// Simplified MY-HPO with backtracking: each of the three steps starts from α, β, δ and is halved
/// until its own objective falls by at least half of step × ‖direction‖².
struct MyHpoBt {
  static constexpr const char* name = "my-hpo-bt";
  struct Settings {
    double alpha = 0.1;
    double beta = 0.1;
    double delta = 0.5;
    double rho = 1.0;
    double epsilon = 1e-8;
    WGradient w_gradient = WGradient::shared;
  };
  using State = SimplifiedState;
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  bool stays_in_row_space() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
