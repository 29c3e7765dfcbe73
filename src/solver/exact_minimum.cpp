#include "solver/exact_minimum.hpp"

#include <algorithm>
#include <cmath>

namespace yosida {
namespace {

/// A lower bound that the data gave is moved by so much at a time, so often, where h falls by this share of
/// itself.
constexpr double kFurther = 8.0;
constexpr int kMaxExtensions = 5;
constexpr double kWorthwhile = 1e-6;
/// L_V of so small a share of that at w = 0 is none.
constexpr double kNoLoss = 1e-9;
/// The share of L_V by which the curve and an inner solve may differ.
constexpr double kAgrees = 1e-7;
/// A curve that ends at so many times its least has left nothing but overfitting below.
constexpr double kFarAbove = 1.2;

}  // namespace

bool take_exact_minimum(const BilevelProblem& problem, const MovableBounds& bounds, BasinSearch& search,
                        Iterate& at) {
  const auto curve = problem.exact_curve(bounds.range().lambda, 0, nullptr);
  if (!curve) return false;
  double low = bounds.low();
  const double high = bounds.high();
  ExactCurve::Point best = curve->minimum(low, high);
  const double none = kNoLoss * bounds.untrained_value();
  for (int i = 0; i < kMaxExtensions && bounds.are_own() && best.lambda <= low; ++i) {
    const ExactCurve::Point below = curve->minimum(low - kFurther, high);
    if (best.value <= none || !(best.value - below.value > kWorthwhile * std::abs(below.value))) break;
    low -= kFurther;
    best = below;
  }
  if (curve->lowest() > low) {
    if (!(curve->lowest() < high) || !(curve->at(curve->lowest()).value > kFarAbove * best.value))
      return false;
    low = curve->lowest();
  }
  Vector w = curve->weights(best.lambda);
  const Vector lambda = Vector::Constant(1, best.lambda);
  const bool converged = problem.inner_solve(lambda, {}, w).converged;
  const double value = problem.validation_loss(w, lambda);
  if (!converged || !(std::abs(value - best.value) <= kAgrees * std::abs(value) + none)) return false;
  at.w = w;
  at.lambda = lambda;
  at.low = Vector::Constant(1, low);
  at.high = Vector::Constant(1, high);
  at.status = SolverStatus::converged;
  search.end_scan();
  search.add({best.lambda, value, best.slope_below, 0.0});
  return true;
}

}  // namespace yosida
