#pragma once

#include <functional>
#include <optional>

#include "yosida/report/contents.hpp"

namespace yosida::cli {

/// Of the final weights in the measure that the paper has: the first of the problem's.
const report::PartCells& final_of(const report::MethodRow& row);
/// Of the runs that ended well: nothing where one did not.
std::optional<double> mean_validation(const report::MethodRow& row);
bool has(const report::MethodRow& row, const char* setting, const char* value);
/// The row of the smallest mean validation loss among those a predicate takes; null where there is none.
const report::MethodRow* best_row(const report::ProblemContents& problem,
                                  const std::function<bool(const report::MethodRow&)>& takes);

}  // namespace yosida::cli
