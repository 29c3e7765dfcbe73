#pragma once

#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"

namespace YOSIDA_EXPORT yosida {

/// Hyperparameter optimisation with approximate gradient (Pedregosa 2016): inner problem and adjoint system
/// are solved to a tolerance that shrinks, and λ follows the hypergradient with the adaptive step 1/L of
/// its author's code. Any number of hyperparameters. It returns the w solved for the λ it returns.
struct Hoag {
  static constexpr const char* name = "hoag";
  static constexpr std::int64_t default_iterations = 100;
  struct Settings {
    double tolerance = 1e-3;
    double decrease = 0.9;
  };
  struct State : Iterate {
    Start range;
    double tolerance = 0.0;   // ε_k
    double lipschitz = 0.0;   // L; 0 until there is a hypergradient
    double validation = 0.0;  // L_V(w)
    Vector hypergradient;     // p = −Cᵀq
    Vector q;                 // of H q = ∇L_V
    Vector g, previous;       // ∇L_V; the λ before
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  /// With an intercept, iterates on the way may leave the span of the rows, but w*(λ) lies in it.
  bool stays_in_row_space() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
