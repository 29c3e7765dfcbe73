#include "solver/exact_lines.hpp"

#include <cmath>
#include <limits>

#include "yosida/solver/bounds.hpp"

namespace yosida {
namespace {

/// λ₂ are first so far from each other, less than features of an ℓ₂ penalty are wide; then nearer in valleys
/// that are so much above the lowest at most, until so near.
constexpr double kSpacing = 1.5;
constexpr double kPromising = 1.01;
constexpr double kNearest = 0.08;
constexpr std::size_t kMostCurves = 80;
/// How many looks are finer ones, about.
constexpr double kUsualFiner = 10.0;

}  // namespace

std::unique_ptr<ExactLines> ExactLines::of(const BilevelProblem& problem, const Start& range) {
  if (problem.hyperparameters() != 2 || !problem.traits().bounds) return nullptr;
  const Start bounded = with_bounds(problem, range);
  if (!problem.exact_curve(bounded.high, 0, nullptr)) return nullptr;
  return std::unique_ptr<ExactLines>(new ExactLines(bounded));
}

bool ExactLines::propose(double& second) const {
  const double low = range_.low[1], high = range_.high[1];
  if (least_.empty()) {
    second = high;
    return true;
  }
  if (least_.size() >= kMostCurves) return false;
  if (const double last = least_.begin()->first; last > low) {
    second = last - kSpacing < low + 0.5 * kSpacing ? low : last - kSpacing;
    return true;
  }
  double lowest = std::numeric_limits<double>::infinity();
  for (const auto& each : least_) lowest = std::min(lowest, each.second);
  double best = std::numeric_limits<double>::infinity();
  for (auto here = least_.begin(); here != least_.end(); ++here) {
    const auto next = std::next(here);
    const bool has_below = here != least_.begin(), has_above = next != least_.end();
    if (here->second > kPromising * lowest || here->second >= best) continue;
    if ((has_below && std::prev(here)->second < here->second) || (has_above && next->second < here->second))
      continue;
    const double below = has_below ? here->first - std::prev(here)->first : 0.0;
    const double above = has_above ? next->first - here->first : 0.0;
    if (std::max(below, above) <= kNearest) continue;
    best = here->second;
    second = below > above ? here->first - 0.5 * below : here->first + 0.5 * above;
  }
  return std::isfinite(best);
}

double ExactLines::share_done() const {
  const double all = std::ceil((range_.high[1] - range_.low[1]) / kSpacing) + 1.0 + kUsualFiner;
  return std::min(1.0, static_cast<double>(least_.size()) / all);
}

bool ExactLines::step(const BilevelProblem& problem, Iterate& at) {
  Vector lambda(2);
  lambda[0] = 0.0;
  if (!propose(lambda[1])) return true;
  double& least = least_.insert_or_assign(lambda[1], std::numeric_limits<double>::infinity()).first->second;
  const auto curve = problem.exact_curve(lambda, 0, nullptr);
  if (!curve) return false;
  const ExactCurve::Point best = curve->minimum(range_.low[0], range_.high[0]);
  bool is_best = std::isfinite(best.value);
  for (const auto& each : least_) is_best &= !(each.second <= best.value);
  least = std::isfinite(best.value) ? best.value : least;
  if (!is_best) return false;
  lambda[0] = best.lambda;
  at.lambda = lambda;
  at.w = curve->weights(best.lambda);
  return false;
}

}  // namespace yosida
