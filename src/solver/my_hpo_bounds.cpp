#include "solver/my_hpo_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "solver/my_hpo_scan.hpp"
#include "yosida/solver/bounds.hpp"

namespace yosida {
namespace {

using Sample = BasinSearch::Sample;

/// How far a bound moves at a time, and to where at most: e^λ is then far from underflow and overflow.
constexpr double kFurther = 8.0;
constexpr double kFarthest = 600.0;
/// How often. Where inner problems do not factor, the points beyond a bound are the dearest of all.
constexpr int kMaxMoves = 5;
constexpr int kMaxInexactMoves = 1;
/// A value lower by less than this share is not lower.
constexpr double kWorthwhile = 1e-6;
/// A sample so near to a bound is at it.
constexpr double kNearest = 1e-7;
/// L_V of so small a share of that before training cannot be lowered in a way that matters.
constexpr double kNoLoss = 1e-9;
/// Values and slopes that differ by more than this share of their sizes are rounding.
constexpr double kContradiction = 0.5;

/// The fall of h from one sample to the next one below is that of their mean slope.
bool agree(const Sample& upper, const Sample& lower) {
  if (!lower.slope) return false;
  const double fall = upper.value - lower.value;
  const double half = 0.5 * (upper.x - lower.x);
  const double by_upper = half * *upper.slope, by_lower = half * *lower.slope;
  const double size = std::abs(fall) + std::abs(by_upper) + std::abs(by_lower);
  const double allowed = kContradiction * size + kWorthwhile * std::abs(upper.value);
  return std::abs(fall - by_upper - by_lower) <= allowed;
}

}  // namespace

MovableBounds::MovableBounds(const BilevelProblem& problem, const Start& start, const Vector& w,
                             SolveMemory* memory)
    : problem_(problem),
      are_own_(!start.is_bounded()),
      range_(with_bounds(problem, start, memory)),
      untrained_value_(problem.validation_loss(w, start.lambda)) {}

bool MovableBounds::is_worth_moving(bool is_low, const Sample& best) const {
  const double before = is_low ? value_at_low_ : value_at_high_;
  const bool still_falls = before - best.value > kWorthwhile * std::abs(best.value);
  return still_falls && !(best.value <= kNoLoss * untrained_value_) &&
         moves_ < (is_exact(problem_) ? kMaxMoves : kMaxInexactMoves);
}

bool MovableBounds::move(const Sample& best, double spacing, BasinSearch& search) {
  const bool is_low = best.x <= low() + kNearest;
  // Above the bound that a problem states no weight is left.
  const bool is_high = best.x >= high() - kNearest && !problem_.traits().bounds;
  if (!are_own_ || !(is_low || is_high) || !is_worth_moving(is_low, best)) return false;
  ++moves_;
  (is_low ? value_at_low_ : value_at_high_) = best.value;
  double& end = is_low ? range_.low[0] : range_.high[0];
  const double from = end;
  end = std::clamp(end + (is_low ? -kFurther : kFurther), -kFarthest, kFarthest);
  if (end == from) return false;
  if (is_low && problem_.traits().factors_cheaply) moved_from_ = from;
  search.extend(from, end, is_exact(problem_) ? spacing : kFurther);
  return true;
}

void MovableBounds::scan_has_ended(BasinSearch& search) {
  if (!moved_from_) return;
  const auto& samples = search.samples();
  for (std::size_t i = samples.size(); i-- > 1;) {
    const Sample& upper = samples[i];
    if (upper.x > *moved_from_ || !upper.slope || agree(upper, samples[i - 1])) continue;
    range_.low[0] = upper.x;
    moves_ = kMaxMoves;  // it stays there
    search.forget_below(upper.x);
    break;
  }
  moved_from_.reset();
}

}  // namespace yosida
