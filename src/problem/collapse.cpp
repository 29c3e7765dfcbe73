#include "yosida/problem/collapse.hpp"

#include <algorithm>

#include "problem/collapsed_least_squares.hpp"
#include "problem/rotated_problem.hpp"

namespace yosida {
namespace {

/// Factoring holds about this many matrices of the size of the basis at once.
constexpr double kCopiesOfBasis = 14.0;

/// So many operations take about a second: exact answers are worth that whatever iterations cost. (A design
/// of 500 × 500 and condition 1e12 takes conjugate gradients minutes.)
constexpr double kLittle = 4e9;

/// A small problem may use a gigabyte to collapse; a large design only a fraction of its own size
/// (a run is held to 1.2 times the design and 64 MB).
double memory_allowed(double design_bytes) {
  constexpr double kLargeDesign = 400e6;
  return design_bytes < kLargeDesign ? 1e9 : 0.15 * design_bytes + 32e6;
}

}  // namespace

bool collapse_is_cheaper(const LinearProblem& problem, double iterations, Coordinates coordinates) {
  if (coordinates == Coordinates::features) return false;
  if (!CollapsedLeastSquares::collapses(problem))
    return coordinates == Coordinates::any && RotatedProblem::rotates(problem);
  const auto& [train, validation, test] = problem.split();
  const double d = static_cast<double>(train.features());
  const double rank = std::min(d, static_cast<double>(train.rows()) + 1.0);
  const double design_bytes = 8.0 * d * static_cast<double>(train.rows() + validation.rows());
  if (kCopiesOfBasis * 8.0 * d * rank > memory_allowed(design_bytes)) return false;
  const auto cost = CollapsedLeastSquares::cost(problem);
  if (cost.setup <= kLittle) return true;
  return cost.setup + iterations * cost.collapsed_iteration <= iterations * cost.direct_iteration;
}

std::shared_ptr<const BilevelProblem> collapsed(std::shared_ptr<const LinearProblem> problem,
                                                const StopToken& stop) {
  if (CollapsedLeastSquares::collapses(*problem))
    return std::make_shared<CollapsedLeastSquares>(std::move(problem), stop);
  return std::make_shared<RotatedProblem>(std::move(problem));
}

std::shared_ptr<const BilevelProblem> collapse_if_cheaper(std::shared_ptr<const LinearProblem> problem,
                                                          double iterations, Coordinates coordinates,
                                                          const StopToken& stop) {
  if (!collapse_is_cheaper(*problem, iterations, coordinates)) return problem;
  return collapsed(std::move(problem), stop);
}

}  // namespace yosida
