#pragma once

#include <functional>
#include <optional>

#include "yosida/export.hpp"
#include "yosida/report/contents.hpp"

namespace YOSIDA_EXPORT yosida {
namespace report {

/// The cells of the final weights in the problem's first measure, which is the paper's.
const PartCells& final_of(const MethodRow& row);
/// The mean over all runs of the row; empty where one of them did not end well.
std::optional<double> mean_validation(const MethodRow& row);
/// What losses in the problem's first measure are multiplied by where they are shown: 100, as in the paper,
/// where a row stands beside the paper's figures.
double shown_factor(const ProblemContents& problem);
bool has(const MethodRow& row, const char* setting, const char* value);
/// The row of the smallest mean validation loss over the common seeds among those a predicate takes; null
/// where there is none, and where rows have no seed in common.
const MethodRow* best_row(const ProblemContents& problem, const std::function<bool(const MethodRow&)>& takes);

}  // namespace report
}  // namespace yosida
