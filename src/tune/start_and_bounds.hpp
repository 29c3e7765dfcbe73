#pragma once

#include "yosida/problem/collapse.hpp"
#include "yosida/solver/methods.hpp"

namespace yosida {

/// The coordinates in which a method may see its problem.
Coordinates coordinates_of(const Method& method, const Solver& solver);

/// The bounds that a λ is judged in: those asked for or those the run has kept to, else the data's own, which
/// most methods keep to by themselves. A λ outside these has been held by nothing.
Start judged_inside(const BilevelProblem& problem, const Start& start, const Method& method,
                    const Outcome& outcome);

}  // namespace yosida
