#include "solver/exact_lines.hpp"

#include <algorithm>
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
/// Values of so small a difference, as a share, are level: there is no valley between them.
constexpr double kLevel = 1e-5;
/// A curve whose least is known to be near some λ₁ is followed so far below that, and to its end where its
/// least is not well above there.
constexpr double kReach = 0.4;
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

bool are_level(double a, double b) { return std::abs(a - b) <= kLevel * std::abs(a); }

/// How many looks are finer ones, about.
constexpr double kUsualFiner = 10.0;

}  // namespace

std::unique_ptr<ExactLines> ExactLines::of(const BilevelProblem& problem, const Start& range) {
  if (problem.hyperparameters() != 2 || !problem.traits().bounds) return nullptr;
  const Start bounded = with_bounds(problem, range);
  if (!problem.exact_curve(bounded.high, 0, nullptr)) return nullptr;
  return std::unique_ptr<ExactLines>(new ExactLines(bounded));
}

std::optional<double> ExactLines::propose() const {
  if (least_.empty()) return range_.high[1];
  if (least_.size() >= kMostCurves) return {};
  const std::optional<double> next = propose_scan();
  return next ? next : propose_finer();
}

std::optional<double> ExactLines::propose_scan() const {
  const double low = range_.low[1];
  const bool has_end = least_.begin()->first <= low;
  const auto last = has_end && least_.size() > 1 ? std::next(least_.begin()) : least_.begin();
  if (has_end && last->first - low <= 1.5 * kSpacing) return {};
  // Where λ₂ has next to no effect left, it has none from there on. Where it is so large that it has none
  // yet, it will have some.
  const auto before = std::next(last);
  if (before != least_.end() && are_level(last->second.value, before->second.value) &&
      !are_level(last->second.value, least_.rbegin()->second.value)) {
    if (!has_end) return low;
    if (are_level(last->second.value, least_.begin()->second.value)) return {};
  }
  const double next = last->first - kSpacing;
  return next < low + 0.5 * kSpacing ? low : next;
}

std::optional<double> ExactLines::propose_finer() const {
  double lowest = std::numeric_limits<double>::infinity();
  for (const auto& each : least_) lowest = std::min(lowest, each.second.value);
  double best = std::numeric_limits<double>::infinity();
  std::optional<double> second;
  for (auto here = least_.begin(); here != least_.end(); ++here) {
    const double value = here->second.value;
    if (value > kPromising * lowest || value >= best) continue;
    const auto below = here != least_.begin() ? std::prev(here) : here;
    const auto above = std::next(here) != least_.end() ? std::next(here) : here;
    if (below->second.value < value || above->second.value < value) continue;
    const double down = are_level(below->second.value, value) ? 0.0 : here->first - below->first;
    const double up = are_level(above->second.value, value) ? 0.0 : above->first - here->first;
    if (std::max(down, up) <= kNearest) continue;
    best = value;
    second = down > up ? here->first - 0.5 * down : here->first + 0.5 * up;
  }
  return second;
}

double ExactLines::first_near(double second) const {
  const auto above = least_.lower_bound(second);
  if (above == least_.begin() || above == least_.end()) return ExactCurve::kAll;
  return std::min(above->second.lambda, std::prev(above)->second.lambda);
}

std::optional<ExactLines::Line> ExactLines::line_at(const BilevelProblem& problem, double second,
                                                    double near) const {
  Vector lambda(2);
  lambda << 0.0, second;
  for (const double least : {near - kReach, ExactCurve::kAll}) {
    auto curve = problem.exact_curve(lambda, 0, nullptr, least);
    if (!curve) return {};
    const ExactCurve::Point best = curve->minimum(range_.low[0], range_.high[0]);
    if (best.lambda > least + 0.5 * kReach) return Line{std::move(curve), best};
  }
  return {};
}

double ExactLines::share_done() const {
  const double all = std::ceil((range_.high[1] - range_.low[1]) / kSpacing) + 1.0 + kUsualFiner;
  return std::min(1.0, static_cast<double>(least_.size()) / all);
}

bool ExactLines::step(const BilevelProblem& problem, Iterate& at) {
  const std::optional<double> second = bottom_ ? std::nullopt : propose();
  if (!second) return step_down(problem, at);
  const double near = first_near(*second);
  Least& least = least_[*second];
  const std::optional<Line> line = line_at(problem, *second, near);
  if (!line || !std::isfinite(line->best.value)) return false;
  least = {.value = line->best.value, .lambda = line->best.lambda};
  if (least.value < lowest_) take(*second, *line, at);
  return false;
}

void ExactLines::take(double second, const Line& line, Iterate& at) {
  lowest_ = line.best.value;
  at.lambda.resize(2);
  at.lambda << line.best.lambda, second;
  at.w = line.curve->weights(line.best.lambda);
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
  const std::optional<Line> line = line_at(problem, *second, at.lambda[0]);
  if (!line) return true;
  const ExactCurve::Point& best = line->best;
  Vector lambda(2);
  lambda << best.lambda, *second;
  const bool is_inside = best.lambda > range_.low[0] && best.lambda < range_.high[0];
  bottom_->add(with_slopes(problem, line->curve->weights(best.lambda), lambda, best.value, is_inside));
  if (best.value <= lowest_ + kUnseen * std::abs(lowest_)) take(*second, *line, at);
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
