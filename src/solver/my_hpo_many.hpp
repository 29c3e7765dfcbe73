#pragma once

#include "yosida/solver/my_hpo.hpp"

namespace yosida {

/// One outer iteration of my-hpo for several hyperparameters: the proximal step where their response fits in
/// a matrix, a limited-memory quasi-Newton step where there are more.
void step_many(const BilevelProblem& problem, const MyHpo::Settings& settings, MyHpo::State& state);

}  // namespace yosida
