#pragma once

#include "yosida/export.hpp"
#include "yosida/response/linear_response.hpp"
#include "yosida/solver/iterate.hpp"

namespace YOSIDA_EXPORT yosida {

/// Which gradient the w-update of the simplified algorithm takes.
enum class WGradient {
  shared,  ///< ∇L_T(v, λ), the v-update's: the paper, two gradients an iteration
  own,     ///< ∇L_T(w, λ), three gradients an iteration
};

/// What the simplified algorithm carries from step to step, with or without backtracking.
struct SimplifiedState : Iterate {
  Vector v, u;
  LinearResponse phi;
  Start range;
  double first_gradient = 0.0;  // ‖∇L_T(v, λ)‖ of the first step
  Vector g, p, r, trial;        // scratch
  Vector trial_lambda;
};

}  // namespace yosida
