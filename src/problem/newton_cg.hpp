#pragma once

#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// BilevelProblem::inner_solve for a problem that knows no better: Newton's method by conjugate gradients,
/// cut short where the Hessian curves down or where the direction is good enough, with a line search. It
/// needs losses, gradients and Hessian products.
InnerReport newton_cg(const BilevelProblem& problem, const Vector& lambda, const InnerOptions& options,
                      Vector& w);

}  // namespace yosida
