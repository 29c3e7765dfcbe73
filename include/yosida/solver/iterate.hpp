#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"

namespace YOSIDA_EXPORT yosida {

class SolveMemory;

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

/// What a solver says of itself after a step. The loop goes on while it is untrained or running.
enum class SolverStatus {
  /// λ is a start under which nothing has been trained: never the answer where an iterate follows.
  untrained,
  running,    ///< w and λ are an iterate
  converged,  ///< the solver's own test holds
  stalled,    ///< that test does not hold, and no further progress can be seen
  exhausted,  ///< all trials are done
  failed,     ///< numbers that are not finite: the loop drops this iterate, and the run has diverged
};

/// A trial of a black-box search.
struct Trial {
  Vector lambda;
  double validation;  ///< its L_V; NaN where training gave no finite loss
};

/// The part of a solver's state that the outer loop reads.
struct Iterate {
  Vector w;
  Vector lambda;
  SolverStatus status = SolverStatus::running;
  /// ‖r‖ and ‖s‖ of the paper, where the solver has them.
  double primal_residual = std::numeric_limits<double>::quiet_NaN();
  double dual_residual = std::numeric_limits<double>::quiet_NaN();
  /// The bounds that the solver keeps λ in; empty where it has none.
  Vector low = {}, high = {};
  /// Steps that backtracking gave up on.
  std::int64_t skipped_steps = 0;
  /// Inner problems that were not solved to their tolerance.
  std::int64_t inexact_solves = 0;
  /// The response has no slope (φ₁ = 0), so that the last step could not move λ.
  bool has_flat_response = false;
  /// How much of the search is done, from 0 to 1, as far as the solver can tell; NaN where it cannot.
  double share_done = std::numeric_limits<double>::quiet_NaN();
  /// What the last step has tried; only black-box searches do.
  std::optional<Trial> trial = {};
  /// What the inner solves have kept, where they have: a certificate of the answer goes on from it.
  std::shared_ptr<SolveMemory> memory = {};
};

}  // namespace yosida
