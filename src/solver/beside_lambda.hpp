#pragma once

#include <cmath>

#include "solver/direct_term.hpp"
#include "solver/lambda_range.hpp"
#include "yosida/solver/iterate.hpp"
#include "yosida/solver/largest_curvature.hpp"

namespace yosida {

// What methods share that move w beside λ by gradient steps.

/// The step size on λ that settings leave open: so many over L_V at the start, that the scale of the targets
/// does not matter.
inline double default_lambda_step(double validation) {
  constexpr double kUnits = 5.0;
  return std::abs(validation) > 0.0 ? kUnits / std::abs(validation) : 1.0;
}

/// A step size that is given, or 1/L.
inline double step_or_inverse(double given, double curvature) {
  if (given > 0.0) return given;
  return curvature > 0.0 ? 1.0 / curvature : 1.0;
}

/// out = ∂L_T/∂λ(w, λ) − ∂L_T/∂λ(trained, λ); `scratch` as long as λ.
inline void train_gradient_lambda_beyond(const BilevelProblem& problem, const Vector& w,
                                         const Vector& trained, const Vector& lambda, Vector& out,
                                         Vector& scratch) {
  problem.train_gradient_lambda(w, lambda, out);
  problem.train_gradient_lambda(trained, lambda, scratch);
  out -= scratch;
}

}  // namespace yosida
