#pragma once

#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/iterate.hpp"

namespace yosida {

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
LambdaBounds default_bounds(const BilevelProblem& problem, double lambda0);

}  // namespace yosida
