#pragma once

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/iterate.hpp"

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

/// The largest curvature of the unpenalised L_T at 0, intercepts refitted: as the problem knows it, or by a
/// few power iterations.
double largest_curvature(const BilevelProblem& problem);

/// The start with bounds: those it has, those the problem states, or the data's own, widened to hold its λ.
/// The data's own: e^λ from 1e-12 to 10 times the largest curvature of the unpenalised L_T at 0, and further
/// down where a weight of λ_j has a curvature of so much less: to 1e-6 of it, or 1e-12 where inner problems
/// factor cheaply. What that costs is work of the problem given.
Start with_bounds(const BilevelProblem& problem, Start start);
/// The same for one λ.
struct LambdaBounds {
  double low;
  double high;
};
/// The bounds that with_bounds gives a start at this λ.
LambdaBounds default_bounds(const BilevelProblem& problem, double lambda0);

}  // namespace yosida
