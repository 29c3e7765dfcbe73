#pragma once

#include <string>

#include "yosida/error.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/iterate.hpp"

namespace yosida {

/// What the paper's solvers ask of a problem: they are written for a single λ.
inline void require_one_lambda(const BilevelProblem& problem, const char* method) {
  if (problem.hyperparameters() != 1)
    throw InputError(std::string("methods of the kind of ") + method +
                     " take 1 hyperparameter; this problem has " + std::to_string(problem.hyperparameters()));
}

/// The mean-anchored response divides by λ: a start at its pole, or a bound that would hold λ there, is
/// refused.
inline void require_off_pole(const Start& start, const char* method) {
  if (start.lambda[0] == 0.0)
    throw InputError(std::string("lambda0 = 0: must not be 0 for ") + method +
                     ", whose response divides by lambda; -1 is the paper's start");
  if (start.is_bounded() && (start.low[0] == 0.0 || start.high[0] == 0.0))
    throw InputError(std::string("a bound of 0: must not be 0 for ") + method +
                     ", whose response divides by lambda; -0.1 keeps lambda below its pole");
}

/// Intercepts are fitted, not stepped: their entries of a direction are 0.
inline void drop_intercept(const BilevelProblem& problem, Vector& direction) {
  direction.tail(problem.intercepts()).setZero();
}

}  // namespace yosida
