#pragma once

#include <cstdint>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/largest_curvature.hpp"

namespace YOSIDA_EXPORT yosida {

/// BOME (Ye, Liu, Wright, Stone and Liu 2022): the inner problem as the constraint
/// q(w, λ) = L_T(w, λ) − L_T(w_T, λ) ≤ 0, w_T some gradient steps from w; (w, λ) follows ∇L_V + μ∇q with the
/// least μ that makes q fall. Gradients alone. Any number of hyperparameters. Its w is not w*(λ), and its λ
/// is biased.
struct Bome {
  static constexpr const char* name = "bome";
  struct Settings {
    std::int64_t steps = 10;
    double eta = 0.5;
    double alpha = 0.0;
    double beta = 0.0;
  };
  struct State : Iterate {
    Start range;
    double beta = 0.0;
    Vector trained;  // w_T
    Vector g, validation_slope, constraint_slope, lambda_slope, constraint_lambda_slope, scratch;
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
