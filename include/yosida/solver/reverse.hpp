#pragma once

#include <cstdint>

#include "yosida/export.hpp"
#include "yosida/solver/unrolled.hpp"

namespace YOSIDA_EXPORT yosida {

/// Moves w by T = `steps` gradient steps of the inner problem, w_{t+1} = w_t − α ∇L_T(w_t, λ), and sets
/// gradient = dL_V(w_T)/dλ, the w given held constant. Returns L_V(w_T). T gradients, then T Hessian
/// products on the way back; keeps the whole path, T × weights() numbers.
double reverse_hypergradient(const BilevelProblem& problem, const Vector& lambda, double alpha,
                             std::int64_t steps, Vector& w, Vector& gradient);

/// Reverse-mode differentiation through the training of the inner problem (Maclaurin et al. 2015; Franceschi
/// et al. 2017, Algorithm 1). Any number of hyperparameters, at the same cost. It returns the w trained
/// under the λ it returns.
struct Reverse {
  static constexpr const char* name = "reverse";
  static constexpr std::int64_t default_iterations = 100;
  using Settings = UnrolledSettings;
  using State = UnrolledState;
  static const std::vector<Setting<Settings>>& table() { return unrolled_table(); }

  Settings settings;
  /// With an intercept, iterates on the way may leave the span of the rows, but w*(λ) lies in it.
  bool stays_in_row_space() const { return true; }
  State init(const BilevelProblem& problem, const Start& start) const;
  void step(const BilevelProblem& problem, State& state) const;
};

}  // namespace yosida
