#pragma once

#include "yosida/solver/my_hpo.hpp"

namespace yosida {

/// The search for one λ. Where exact solves would do, but a memory makes coarse ones many times as cheap, it
/// looks by these first, and ends by exact ones. Where they do not tell all of h, all solves are exact.
std::unique_ptr<MyHpo::Search> search_for_one(const BilevelProblem& problem, const MyHpo::Settings& settings,
                                              const Start& start, const Vector& w);

}  // namespace yosida
