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

/// F2SA (Kwon, Kwon, Wright and Nowak 2023): λ follows μ[∂L_T/∂λ(w) − ∂L_T/∂λ(z)], where w descends
/// L_V + μL_T, z descends L_T, and μ grows. Gradients of batches alone. Any number of hyperparameters.
struct F2sa {
  static constexpr const char* name = "f2sa";
  struct Settings {
    std::int64_t inner = 10;
    double alpha = 0.0;
    double beta = 0.0;
    double mu = 1.0;
    double growth = 0.1;
    std::int64_t batch = 64;
    std::int64_t steps = 0;
  };
  struct State : Iterate {
    Start range;
    std::int64_t k = 0;
    double beta = 0.0;
    double mu = 0.0;
    Vector z;
    Vector train, validation, lambda_slope, scratch;
    BatchDraws draws;
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
