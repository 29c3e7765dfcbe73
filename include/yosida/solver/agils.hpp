#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/largest_curvature.hpp"

namespace YOSIDA_EXPORT yosida {

/// AGILS (Bai, Zeng, Zhang and Zhang 2026): the constraint L_T(w, λ) − v(w, λ) ≤ ε with the Moreau envelope v
/// of MEHA, whose θ is trained to a tolerance that shrinks; w and λ move by one step each, and the weight p
/// of the constraint grows where they have come to rest. Penalties with kinks by proximal steps. Any number
/// of hyperparameters. Its w is not w*(λ).
struct Agils {
  static constexpr const char* name = "agils";
  struct Settings {
    double scale = 0.0;
    double gamma = 0.0;
    double epsilon = 1e-6;
    double p = 6.0;
    double growth = 0.01;
    double rest = 1.0;
    double near = 50.0;
    double beta = 0.0;
    double tolerance = 0.005;
  };
  struct State : Iterate {
    Start range;
    std::int64_t k = 0;
    double scale = 0.0;
    double gamma = 0.0;
    double p = 0.0;
    double beta = 0.0;
    /// The residual of θ at the last iterate, and at the one before.
    double residual = std::numeric_limits<double>::infinity();
    double previous_residual = std::numeric_limits<double>::infinity();
    Vector theta, next_theta, previous_w, previous_lambda;
    Vector g, validation_slope, lambda_slope, scratch;
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
