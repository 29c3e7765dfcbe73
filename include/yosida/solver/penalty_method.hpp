#pragma once

#include <cstdint>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/largest_curvature.hpp"

namespace YOSIDA_EXPORT yosida {

/// The penalty method (Mehra and Hamm 2019): the inner problem as the constraint ∇L_T(w, λ) = 0, and
///   L_V(w) + νᵀ∇L_T(w, λ) + ρ/2 ‖∇L_T(w, λ)‖²  (+ μ L_T in w)
/// descended in w and λ in turn; ρ and ν are raised as its gradients become small. No Hessian is inverted.
/// Any number of hyperparameters. It returns its own w, which nears w*(λ) as ρ grows.
struct PenaltyMethod {
  static constexpr const char* name = "penalty";
  static constexpr std::int64_t default_iterations = 500;
  struct Settings {
    std::int64_t steps = 10;
    double alpha = 0.0;
    double beta = 1.0;
    double rho = 10.0;
    double growth = 1.1;
    double mu = 0.01;
    double epsilon = 0.1;
    double shrink = 0.9;
  };
  struct State : Iterate {
    Start range;
    double rho = 0.0;  // 0 until the first step has measured the curvature
    double mu = 0.0;
    double epsilon = 0.0;
    Vector nu;
    Vector train;       // ∇L_T(w, λ)
    Vector multiplier;  // ν + ρ∇L_T
    Vector g, product, lambda_slope;
    CurvatureIteration curvature;  // of the objective in w
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  /// ∇L_V, which w follows here, is no combination of training rows.
  bool stays_in_row_space() const { return false; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
