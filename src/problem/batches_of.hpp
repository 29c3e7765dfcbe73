#pragma once

#include <functional>

#include "yosida/data/split.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// A problem made of each batch of at most so many consecutive rows; `make` also hears which training row
/// is its first. Where one part has fewer batches than the other it begins anew.
Batches batches_of(
    const Split& split, Index rows,
    const std::function<std::shared_ptr<const BilevelProblem>(Split batch, Index first_row)>& make);

}  // namespace yosida
