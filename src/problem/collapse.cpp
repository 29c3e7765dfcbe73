#include "yosida/problem/collapse.hpp"

#include <algorithm>

#include "yosida/problem/collapsed_least_squares.hpp"

namespace yosida {
namespace {

/// A basis beyond this does not fit what the memory of a run is held to.
constexpr double kMaxBasis = 4e8 / 8.0;

}  // namespace

std::shared_ptr<const BilevelProblem> collapse_if_cheaper(std::shared_ptr<const LinearProblem> problem,
                                                          double iterations) {
  if (!problem->loss().is_quadratic()) return problem;
  const auto cost = CollapsedLeastSquares::cost(*problem);
  const Dataset& train = problem->split().train;
  const double d = static_cast<double>(train.features());
  const double rank = std::min(d, static_cast<double>(train.rows()) + 1.0);
  if (d * rank > kMaxBasis) return problem;
  if (cost.setup + iterations * cost.collapsed_iteration > iterations * cost.direct_iteration) return problem;
  return std::make_shared<CollapsedLeastSquares>(std::move(problem));
}

}  // namespace yosida
