#pragma once

#include <cstdint>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/largest_curvature.hpp"

namespace YOSIDA_EXPORT yosida {

/// MEHA (Liu, Liu, Yao, Zeng and Zhang 2024): the inner problem as the constraint L_T(w, λ) ≤ v(w, λ), with
/// the Moreau envelope v(w, λ) = min_θ L_T(θ, λ) + ‖θ − w‖²/(2γ), and L_V/c + L_T − v descended in θ, λ and w
/// by one gradient step each, c growing. Gradients alone; penalties with kinks by proximal steps. Any number
/// of hyperparameters. Its w is not w*(λ).
struct Meha {
  static constexpr const char* name = "meha";
  struct Settings {
    double gamma = 1.0;
    double c = 1.0;
    double growth = 0.49;
    double eta = 0.0;
    double alpha = 0.0;
    double beta = 0.0;
  };
  struct State : Iterate {
    Start range;
    std::int64_t k = 0;
    double beta = 0.0;
    Vector theta;
    Vector g, validation_slope, lambda_slope, lambda_slope_of_theta;
    Curvatures curvatures;
  };
  static const std::vector<Setting<Settings>>& table();

  Settings settings;
  /// ∇L_V, which w follows here, is no combination of training rows.
  bool stays_in_row_space() const { return false; }
  bool trains_answer() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
