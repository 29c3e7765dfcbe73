#pragma once

#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"

namespace YOSIDA_EXPORT yosida {

/// my-hpo in a single loop, where an inner solve is too dear: each iteration takes one gradient step on v,
/// one on the linear system of the tangent's slope, and one proximal step on λ. For one hyperparameter; it
/// ends in the basin it starts in.
struct MyHpo1 {
  static constexpr const char* name = "my-hpo-1";
  struct Settings {
    double rho = 1.0;
    double epsilon = 0.01;
    double tolerance = 1e-3;
    double reach = 0.1;
  };
  struct State : Iterate {
    Start range;
    Vector phi1, g, product, scratch;
    double curvature = 0.0;  // of the unpenalised L_T, the largest; 0 before the first step
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  bool stays_in_row_space() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
