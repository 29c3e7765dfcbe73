#pragma once

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// The truth to measure solvers against: the global minimum of λ ↦ L_V(w*(λ)) inside bounds.
struct Oracle {
  double lambda = 0.0;
  double validation = 0.0;
  double low = 0.0;
  double high = 0.0;
  /// Inner problems on the way that were not solved to their tolerance.
  std::int64_t inexact_solves = 0;
  /// The minimum lies on a bound: a wider search may find a better one.
  bool at_bound() const { return lambda == low || lambda == high; }
};

/// A fine grid of tight inner solves, large λ to small, each warm-started from the last; every
/// promising valley is then polished by golden section. For one λ. Throws InputError unless the bounds are
/// finite and low < high.
Oracle find_oracle(const BilevelProblem& problem, double low, double high);

/// L_V(w*(λ)), by a tight inner solve.
double validation_at(const BilevelProblem& problem, double lambda);

}  // namespace yosida
