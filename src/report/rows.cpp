#include "yosida/report/rows.hpp"

#include <algorithm>

#include "yosida/report/paper.hpp"

namespace yosida::report {

const PartCells& final_of(const MethodRow& row) {
  static const PartCells none;
  return row.final.empty() ? none : row.final[0];
}

std::optional<double> mean_validation(const MethodRow& row) {
  const std::optional<Cell>& cell = final_of(row).validation;
  if (!cell || row.diverged + row.failed > 0) return {};
  return cell->mean;
}

double shown_factor(const ProblemContents& problem) {
  const bool is_of_paper = std::any_of(problem.rows.begin(), problem.rows.end(), [&](const MethodRow& row) {
    return !paper_results(problem.name, row.method, row.settings).empty();
  });
  return is_of_paper ? 100.0 : 1.0;
}

bool has(const MethodRow& row, const char* setting, const char* value) {
  const auto found = row.settings.find(setting);
  return found != row.settings.end() && found->second == value;
}

const MethodRow* best_row(const ProblemContents& problem,
                          const std::function<bool(const MethodRow&)>& takes) {
  const MethodRow* best = nullptr;
  if (problem.seeds.count == 0) return best;
  for (const MethodRow& row : problem.rows)
    if (const auto value = mean_validation(row); value && takes(row))
      if (best == nullptr || *value < *mean_validation(*best)) best = &row;
  return best;
}

}  // namespace yosida::report
