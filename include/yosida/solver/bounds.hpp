#pragma once

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/iterate.hpp"

namespace YOSIDA_EXPORT yosida {

/// The largest curvature of the unpenalised L_T at 0, intercepts refitted: as the problem knows it, or by a
/// few power iterations. A problem without penalties has its L_T taken at the λ given. With a `memory` the
/// problem may find it in what that keeps.
double largest_curvature(const BilevelProblem& problem, const Vector& lambda, SolveMemory* memory = nullptr);

/// The start with bounds: those it has, those the problem states, or the data's own, widened to hold its λ.
/// The data's own: e^λ from 1e-12 to 10 times the largest curvature of the unpenalised L_T at 0, and further
/// down where a weight of λ_j has a curvature of so much less: to 1e-6 of it, or 1e-12 where inner problems
/// factor cheaply. 10 to either side of its λ for a problem without penalties. What that costs is work of the
/// problem given. Throws InputError where the sizes do not fit.
Start with_bounds(const BilevelProblem& problem, Start start, SolveMemory* memory = nullptr);
/// Where λ starts if nobody says: lambda0 each or, where the problem states bounds, 0.3 of the way down from
/// the upper ones.
Vector default_start(const BilevelProblem& problem, double lambda0 = -1.0);
/// The bounds of with_bounds for one λ.
struct Interval {
  double low;
  double high;
};
/// The bounds that with_bounds gives a start at this λ.
Interval default_bounds(const BilevelProblem& problem, double lambda0);

}  // namespace yosida
