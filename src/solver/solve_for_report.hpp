#pragma once

#include "yosida/solver/solve.hpp"

namespace yosida {

/// solve() for a caller who reads all rows for a report of the answer anyway, and takes the losses from
/// there: without a trace, Solution::loss holds the validation loss that the solver saw, and no other.
Outcome solve_for_report(const Solver& solver, const BilevelProblem& problem, const SolveOptions& options);

}  // namespace yosida
