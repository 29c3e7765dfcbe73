#pragma once

#include <functional>
#include <optional>

#include "yosida/export.hpp"
#include "yosida/report/contents.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// Of the final weights in the measure that the paper has: the first of the problem's.
const PartCells& final_of(const MethodRow& row);
/// Of the runs that ended well: nothing where one did not.
std::optional<double> mean_validation(const MethodRow& row);
bool has(const MethodRow& row, const char* setting, const char* value);
/// The row of the smallest mean validation loss among those a predicate takes; null where there is none.
const MethodRow* best_row(const ProblemContents& problem, const std::function<bool(const MethodRow&)>& takes);

}  // namespace report
}  // namespace yosida
