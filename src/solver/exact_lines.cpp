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
/// A kink of h no further away than this is met: curves know where theirs are to rounding.
constexpr double kAtKink = 1e-9;
/// How fast λ₁ of a kink may move with λ₂.
constexpr double kSteepest = 50.0;
/// On the way down a value that is higher by so small a share is not: what comes later is nearer.
constexpr double kUnseen = 1e-13;
/// The share of L_V by which a curve and an inner solve may differ.
constexpr double kAgrees = 1e-7;

/// m with its slopes, min over s of h'(λ; (s, ±1)): how it changes with λ₂, λ₁ following. Where h is smooth
/// and λ₁ is at a minimum, that is the same for all s. Where λ₁ is at a kink, h' consists of two lines in s,
/// which meet where λ₁ stays at the kink.
KinkedMinimum::Sample with_slopes(const BilevelProblem& problem, const Vector& w, const Vector& lambda,
                                  double value, bool is_inside) {
  Matrix directions(2, 8);
  directions.row(0) << 0.0, 0.0, -1.0, 1.0, -kSteepest, kSteepest, -kSteepest, kSteepest;
  directions.row(1) << -1.0, 1.0, 0.0, 0.0, -1.0, -1.0, 1.0, 1.0;
  Vector h;
  const bool has_kink = problem.one_sided_slopes(w, lambda, directions, kAtKink, h);
  const double bend = h[2] + h[3];
  KinkedMinimum::Sample sample{.x = lambda[1], .value = value, .slope_below = -h[0], .slope_above = h[1]};
  if (!has_kink || !is_inside || !(bend > 0.0)) return sample;
  const auto where_lines_meet = [&](double left, double right) {
    const double s = (left - right + kSteepest * (h[3] - h[2])) / bend;
    return left - h[2] * (s + kSteepest);
  };
  sample.slope_below = -where_lines_meet(h[4], h[5]);
  sample.slope_above = where_lines_meet(h[6], h[7]);
  return sample;
}
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
  double second = 0.0;
  if (bottom_ || !propose(second)) return step_down(problem, at);
  double& least = least_.insert_or_assign(second, std::numeric_limits<double>::infinity()).first->second;
  const auto curve = curve_at(problem, second);
  if (!curve) return false;
  const ExactCurve::Point best = curve->minimum(range_.low[0], range_.high[0]);
  if (!std::isfinite(best.value)) return false;
  least = best.value;
  if (least < lowest_) take(second, *curve, best, at);
  return false;
}

std::shared_ptr<const ExactCurve> ExactLines::curve_at(const BilevelProblem& problem, double second) {
  Vector lambda(2);
  lambda << 0.0, second;
  return problem.exact_curve(lambda, 0, nullptr);
}

void ExactLines::take(double second, const ExactCurve& curve, const ExactCurve::Point& best, Iterate& at) {
  lowest_ = best.value;
  at.lambda.resize(2);
  at.lambda << best.lambda, second;
  at.w = curve.weights(best.lambda);
}

/// One more curve on the way to the bottom of the valley that the iterate is in.
bool ExactLines::step_down(const BilevelProblem& problem, Iterate& at) {
  if (!bottom_) {
    const auto here = least_.find(at.lambda[1]);
    if (here == least_.end()) return true;  // there has been no curve
    const auto next = std::next(here);
    bottom_.emplace(here == least_.begin() ? here->first : std::prev(here)->first, here->first,
                    next == least_.end() ? here->first : next->first);
  }
  const std::optional<double> second = bottom_->propose();
  if (!second) {
    conclude(problem, at);
    return true;
  }
  const auto curve = curve_at(problem, *second);
  if (!curve) return true;
  const ExactCurve::Point best = curve->minimum(range_.low[0], range_.high[0]);
  Vector lambda(2);
  lambda << best.lambda, *second;
  const bool is_inside = best.lambda > range_.low[0] && best.lambda < range_.high[0];
  bottom_->add(with_slopes(problem, curve->weights(best.lambda), lambda, best.value, is_inside));
  if (best.value <= lowest_ + kUnseen * std::abs(lowest_)) take(*second, *curve, best, at);
  return false;
}

void ExactLines::conclude(const BilevelProblem& problem, Iterate& at) const {
  Vector w = at.w;
  if (!problem.inner_solve(at.lambda, {}, w).converged) return;
  const double value = problem.validation_loss(w, at.lambda);
  if (!(std::abs(value - lowest_) <= kAgrees * std::abs(value))) return;
  at.w = w;
  at.low = range_.low;
  at.high = range_.high;
  at.status = SolverStatus::converged;
}

}  // namespace yosida
