#pragma once

#include <string>

#include "yosida/error.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// What the paper's solvers ask of a problem: they are written for a single λ.
inline void require_one_lambda(const BilevelProblem& problem, const char* method) {
  if (problem.hyperparameters() != 1)
    throw InputError(std::string(method) + " takes problems with 1 hyperparameter; this one has " +
                     std::to_string(problem.hyperparameters()));
}

/// The mean-anchored response divides by λ: a start at its pole is refused.
inline void require_nonzero(const Vector& lambda, const char* method) {
  if (lambda[0] == 0.0)
    throw InputError(std::string("lambda0 = 0: must not be 0 for ") + method +
                     ", whose response divides by lambda; -1 is the paper's start");
}

/// The intercept is fitted, not stepped: its entry of a direction is 0.
inline void drop_intercept(const BilevelProblem& problem, Vector& direction) {
  if (problem.has_intercept()) direction[direction.size() - 1] = 0.0;
}

}  // namespace yosida
