#pragma once

#include "solver/basin_search.hpp"
#include "solver/my_hpo_bounds.hpp"

namespace yosida {

/// Where the problem knows h(λ) for all λ at once (BilevelProblem::exact_curve): its global minimum inside
/// the range becomes the answer, its weights by an exact inner solve. False, and nothing has changed, where
/// it does not, or where its curve ends before the range does or is not what the inner solve says.
bool take_exact_minimum(const BilevelProblem& problem, const MovableBounds& bounds, BasinSearch& search,
                        Iterate& at);

}  // namespace yosida
