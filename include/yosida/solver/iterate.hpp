#pragma once

#include <cstdint>
#include <limits>

#include "yosida/linalg/types.hpp"

namespace yosida {

/// Where a solver starts, and what keeps λ in range.
struct Start {
  Vector lambda;  // one value per hyperparameter
  /// The paper's solvers have no bounds: these are infinite unless asked for.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 0;
};

/// The part of a solver's state that the outer loop reads.
struct Iterate {
  Vector w;
  Vector lambda;
  /// ‖r‖ and ‖s‖ of the paper, where the solver has them.
  double primal_residual = std::numeric_limits<double>::quiet_NaN();
  double dual_residual = std::numeric_limits<double>::quiet_NaN();
  bool converged = false;
  /// Steps that backtracking gave up on.
  std::int64_t skipped_steps = 0;
  /// Inner problems that were not solved to their tolerance.
  std::int64_t inexact_solves = 0;
  /// Set where the solver has met numbers that are not finite: the run ends as diverged.
  bool failed = false;
  /// Set where the response has lost its slope (φ₁ = 0), so that λ cannot move.
  bool flat_response = false;
};

}  // namespace yosida
