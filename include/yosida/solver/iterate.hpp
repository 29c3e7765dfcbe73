#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"

namespace YOSIDA_EXPORT yosida {

/// What a run may cost. It ends at the first limit it meets.
struct Budget {
  std::int64_t iterations = std::numeric_limits<std::int64_t>::max();
  std::int64_t gradients = std::numeric_limits<std::int64_t>::max();  ///< of Work::paper_count
  double seconds = std::numeric_limits<double>::infinity();
};

/// Where a solver starts, and what keeps λ in range.
struct Start {
  Vector lambda;  // one value per hyperparameter
  /// Bounds on λ, one value per hyperparameter; empty where there are none, as for the paper's solvers.
  Vector low = {}, high = {};
  std::uint64_t seed = 0;
  /// What the run may cost, for methods that lay out their work in advance. The loop sees to the limits.
  Budget budget = {};

  /// The same bounds for every hyperparameter.
  void bound(double below, double above) {
    low = Vector::Constant(lambda.size(), below);
    high = Vector::Constant(lambda.size(), above);
  }
  bool is_bounded() const { return low.size() > 0; }
  /// Moves λ inside the bounds.
  void clamp(Vector& lambda_) const {
    if (is_bounded()) lambda_ = lambda_.cwiseMax(low).cwiseMin(high);
  }
  /// The value moved inside the bounds of λ_j.
  double clamped(double value, Index j) const {
    return is_bounded() ? std::clamp(value, low[j], high[j]) : value;
  }
};

/// The part of a solver's state that the outer loop reads.
struct Iterate {
  Vector w;
  Vector lambda;
  /// ‖r‖ and ‖s‖ of the paper, where the solver has them.
  double primal_residual = std::numeric_limits<double>::quiet_NaN();
  double dual_residual = std::numeric_limits<double>::quiet_NaN();
  bool converged = false;
  /// No further progress can be seen, and the solver's own test is not met.
  bool stalled = false;
  /// The last iterate is the answer, though one solved less exactly may have had a lower L_V.
  bool final_is_best = false;
  /// The bounds that the solver keeps λ in; empty where it has none.
  Vector low = {}, high = {};
  /// Steps that backtracking gave up on.
  std::int64_t skipped_steps = 0;
  /// Inner problems that were not solved to their tolerance.
  std::int64_t inexact_solves = 0;
  /// Of a black-box search: the λ of the last trial, and its L_V (not finite where it failed).
  Vector tried = {};
  double tried_validation = std::numeric_limits<double>::quiet_NaN();
  /// Set where nothing was trained under λ yet: a start, never the answer where an iterate follows.
  bool untrained = false;
  /// Trials of a black-box search that gave no finite loss.
  std::int64_t failed_trials = 0;
  /// Set where nothing is left to try: all trials are done.
  bool exhausted = false;
  /// Set where the solver has met numbers that are not finite: the run ends as diverged.
  bool failed = false;
  /// Set where the response has lost its slope (φ₁ = 0), so that λ cannot move.
  bool flat_response = false;
};

}  // namespace yosida
