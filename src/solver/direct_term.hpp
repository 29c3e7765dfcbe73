#pragma once

#include <string>

#include "yosida/error.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// g += ∂L_V/∂λ(w, λ), the part of a hypergradient that does not go through w. Costs nothing where L_V does
/// not depend on λ.
inline void add_direct_term(const BilevelProblem& problem, const Vector& w, const Vector& lambda, Vector& g) {
  if (!problem.traits().validation_depends_on_lambda) return;
  Vector direct(lambda.size());
  problem.validation_gradient_lambda(w, lambda, direct);
  g += direct;
}

/// ∂L_V/∂λ of a problem with one λ, as a number.
inline double direct_slope(const BilevelProblem& problem, const Vector& w, const Vector& lambda) {
  if (!problem.traits().validation_depends_on_lambda) return 0.0;
  Vector direct(1);
  problem.validation_gradient_lambda(w, lambda, direct);
  return direct[0];
}

/// Throws InputError where L_V means nothing at weights other than w*(λ), which this method asks it for.
inline void require_loss_of_any_weights(const BilevelProblem& problem, const std::string& method) {
  if (problem.traits().validation_needs_optimum)
    throw InputError(
        method +
        ": evaluates the validation loss of weights that are not trained to the end; that of this "
        "problem is defined at w*(lambda) alone: must be a method such as my-hpo, hoag or grid");
}

}  // namespace yosida
