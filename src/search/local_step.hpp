#pragma once

#include <optional>

#include "search/trial_history.hpp"

namespace yosida::search {

/// A step to the bottom of a parabola through known trials, where that promises a value below the best by
/// more than 1/1000 of the distance from the best to the median; nothing where no parabola does, which is
/// what says that a valley is done with.
///
/// One dimension: every trial lower than its two neighbours is the floor of a valley; the parabola through
/// the three that promises the least value is taken. Several: Σ_j (b_j d_j + a_j d_j²) through the best trial
/// and those nearest to it, within a quarter of the box they span. Trials that failed or are open belong to
/// no parabola; a step never lands on a trial.
std::optional<Vector> local_step(const TrialHistory& history);

}  // namespace yosida::search
