#pragma once

#include <memory>

#include "yosida/export.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// True where the loss is quadratic and collapsing takes a fraction of a second or pays for itself in so many
/// iterations, within the memory that the size of the design allows.
bool collapse_is_cheaper(const LinearProblem& problem, double iterations);

/// The problem in the cheapest equal form for so many iterations: collapsed where the loss is
/// quadratic and the factorisation pays for itself, as it is elsewhere.
std::shared_ptr<const BilevelProblem> collapse_if_cheaper(std::shared_ptr<const LinearProblem> problem,
                                                          double iterations);

}  // namespace yosida
