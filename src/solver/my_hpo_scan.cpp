#include "solver/my_hpo_scan.hpp"

#include <cmath>

namespace yosida {
namespace {

using Sample = BasinSearch::Sample;

/// Points are nearer to each other where h costs little: distances in units of ProblemTraits::feature_width,
/// of a closed form, of inner problems that factor, and of these with an ℓ₁ penalty, whose features are
/// narrow already.
constexpr double kClosedFormSpacing = 0.25;
constexpr double kFactoredSpacing = 0.35;
constexpr double kL1Spacing = 0.5;
/// Points of one iteration where inner problems factor: a trace then has some twenty lines, not some hundred.
constexpr int kPointsAStep = 16;
/// A scan of an ℓ₁ penalty ends after so many λ in a row that are not resolved: below them, fewer still are.
constexpr int kGivenUp = 6;

/// τ of a coarse solve: finer ones do not change which basins are low.
constexpr double kScanTau = 0.1;
/// Where the last value is this many times the best, the next is not interesting, and its solve is coarse;
/// elsewhere its tolerance is finer by a factor.
constexpr double kUninteresting = 1.1;
constexpr double kFiner = 0.1;
/// A solve whose weights may be those of a λ further away than this has not told h.
constexpr double kResolved = 0.3;
/// So many values that rise one after the other, to so many times the best, end an inexact scan. Columns of
/// different scales may have a valley each: they are given twice the time, and further to rise.
constexpr int kRises = 2;
constexpr double kOverfitted = 1.1;
constexpr double kFarOverfitted = 4.0;

}  // namespace

double Scan::spacing(const BilevelProblem& problem, const MyHpo::Settings& settings) {
  const double width = settings.spacing * problem.traits().feature_width;
  if (problem.traits().has_closed_form) return kClosedFormSpacing * width;
  if (!problem.traits().factors_cheaply) return width;
  return (has_l1_kinks(problem) ? kL1Spacing : kFactoredSpacing) * width;
}

void Scan::advance(Curve& curve, BasinSearch& search) {
  if (problem_.traits().has_closed_form) return add_closed_forms(search);
  if (!is_exact(problem_)) return add_inexact_point(curve, search);
  for (int point = 0; search.scanning() && point < kPointsAStep; ++point) add_exact_point(curve, search);
}

/// All points at once: that is what a closed form is cheap in.
void Scan::add_closed_forms(BasinSearch& search) const {
  const std::span<const double> left = search.left_to_scan();
  const std::vector<double> lambdas(left.begin(), left.end());
  for (const Sample& sample : closed_forms(problem_, lambdas)) search.add(sample);
}

void Scan::add_exact_point(Curve& curve, BasinSearch& search) {
  const bool has_kinks = has_l1_kinks(problem_);
  const Sample sample =
      curve.evaluate(search.next_scanned(), has_kinks ? Exactness::glance() : Exactness::exact());
  search.add(sample);
  unresolved_ = std::isfinite(sample.value) ? 0 : unresolved_ + 1;
  if (has_kinks && unresolved_ >= kGivenUp) search.end_scan();
}

void Scan::add_inexact_point(Curve& curve, BasinSearch& search) {
  const Sample sample = coarse_sample(search.next_scanned(), curve, search);
  const double last = last_;
  if (std::isfinite(sample.value)) last_ = sample.value;
  search.add(sample);
  if (only_overfits(sample, last, search)) search.end_scan();
}

/// A coarse solve is enough where it tells h, and dear where it does not: then its weights may be those of a
/// λ far away, and likely those of the λ that follow are too.
Sample Scan::coarse_sample(double lambda, Curve& curve, const BasinSearch& search) {
  if (!is_coarse_useless_) {
    const bool is_dull = search.samples().empty() || last_ > kUninteresting * search.best_value();
    const Sample sample = curve.evaluate(
        lambda, Exactness::value_only(kScanTau, (is_dull ? 1.0 : kFiner) * settings_.scan_tolerance));
    if (!(sample.blur > kResolved)) return sample;
    is_coarse_useless_ = true;
  }
  return curve.evaluate(lambda, Exactness::value_only(kResolved, 0.0));
}

/// Heuristic: where h rises and rises below its best λ, only overfitting is left.
bool Scan::only_overfits(const Sample& sample, double last, const BasinSearch& search) {
  rises_ = sample.value > last ? rises_ + 1 : 0;
  return rises_ >= (columns_are_alike_ ? kRises : 2 * kRises) &&
         sample.value > (columns_are_alike_ ? kOverfitted : kFarOverfitted) * search.best_value();
}

}  // namespace yosida
