#pragma once

#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/solver/my_hpo.hpp"

namespace yosida {

/// One iteration of MyHpo with one hyperparameter: the next point of a search over all valleys of h.
void step_one(const BilevelProblem& problem, const MyHpo::Settings& settings, MyHpo::State& state);

}  // namespace yosida
