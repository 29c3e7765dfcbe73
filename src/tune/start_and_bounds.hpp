#pragma once

#include "yosida/solver/methods.hpp"

namespace yosida {

/// The bounds that a λ is judged in: those asked for or those the run has kept to, else the data's own, which
/// most methods keep to by themselves. A λ outside these has been held by nothing.
Start judged_inside(const BilevelProblem& problem, const Start& start, const Method& method,
                    const Outcome& outcome);

}  // namespace yosida
