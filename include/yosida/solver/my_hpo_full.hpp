#pragma once

#include <vector>

#include "yosida/export.hpp"
#include "yosida/response/linear_response.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"

namespace YOSIDA_EXPORT yosida {

/// The paper's Algorithm "MY-HPO": every update solved to its minimum. Few, dear iterations. With the tangent
/// response it is my-hpo-consensus: the paper's w and u on the true slope.
struct MyHpoFull {
  static constexpr const char* name = "my-hpo-full";
  static constexpr std::int64_t default_iterations = 500;
  struct Settings {
    double rho = 1.0;
    double epsilon = 1e-4;
    ResponseKind response = ResponseKind::mean_anchored;
  };
  struct State : Iterate {
    Vector u, v;
    LinearResponse phi;
    Start range;
    Vector r, response, g, curvature;
    Vector trial_lambda;
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  bool stays_in_row_space() const { return true; }
  /// A true slope leads to the minimum of h, and the last iterate is nearest to it.
  bool last_is_answer() const { return settings.response != ResponseKind::mean_anchored; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
