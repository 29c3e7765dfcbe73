#pragma once

#include <vector>

#include "yosida/export.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/simplified.hpp"

namespace YOSIDA_EXPORT yosida {

/// The paper's Algorithm "Simplified MY-HPO" with constant steps: one gradient step for each of
/// the updates of MY-HPO. Two gradients an iteration.
struct MyHpoC {
  static constexpr const char* name = "my-hpo-c";
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
  bool stays_in_row_space() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
