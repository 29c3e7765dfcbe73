#pragma once

#include <cstdint>

#include "yosida/export.hpp"
#include "yosida/solver/unrolled.hpp"

namespace YOSIDA_EXPORT yosida {

/// What reverse_hypergradient computes, the tangents Z_t = dw_t/dλ carried along: nothing of the path is
/// kept, and each step costs one gradient and one Hessian product per hyperparameter.
double forward_hypergradient(const BilevelProblem& problem, const Vector& lambda, double alpha,
                             std::int64_t steps, Vector& w, Vector& gradient);

/// Forward-mode differentiation through the training of the inner problem (Franceschi et al. 2017,
/// Algorithm 2). For few hyperparameters: its cost grows with their number. It returns the w trained under
/// the λ it returns.
struct Forward {
  static constexpr const char* name = "forward";
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
