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
/// The distance where a scan by inexact solves is to tell all of h.
constexpr double kTellingSpacing = 0.7;
/// A share of the least curvature of all directions: h is a line in so small a curvature 2e^λ of the penalty,
/// but for this share of its changes.
constexpr double kNextToNone = 0.02;
/// Points of one iteration where inner problems factor: a trace then has some twenty lines, not some hundred.
constexpr int kPointsAStep = 16;
/// A scan of a smooth h takes one point in so many first, then those between them that h may be lower at:
/// where it is level and far above its least value, few.
constexpr std::size_t kStride = 8;
/// A scan of an ℓ₁ penalty ends after so many λ in a row that are not resolved: below them, fewer still are.
constexpr int kGivenUp = 6;

/// τ of a coarse solve: finer ones do not change which basins are low.
constexpr double kScanTau = 0.1;
/// The same in a scan that is to tell all of h, whose values stand beside refined ones.
constexpr double kTellingTau = 0.02;
/// Where the last value is this many times the best, the next is not interesting, and its solve is coarse;
/// elsewhere its tolerance is finer by a factor.
constexpr double kUninteresting = 1.1;
constexpr double kFiner = 0.1;
/// Where a problem keeps a Hessian, finer solves cost a pass or two: τ alone says when they end. Where h has
/// risen, it is enough to see whether it falls again, and a point may be that of a λ half-way to the next.
constexpr double kRisingTau = 0.7;
/// A gradient below this share of the one at 0 counts as none: where penalties are next to nothing, τ asks
/// for less than rounding leaves.
constexpr double kNoGradient = 1e-7;
/// What a solve may end at in a scan that is to tell all of h, little more than rounding.
constexpr double kLeastGradient = 1e-13;
/// Values that differ by less than this share are level, and so are such that differ by so small a share of
/// what they are above the best.
constexpr double kLevel = 1e-6;
constexpr double kLevelAbove = 0.1;
/// The latter share in a scan that is to tell all of h.
constexpr double kLevelAboveExact = 0.01;
/// The end of the scan is looked at with so many passes: where it takes more, h is not level.
constexpr std::int64_t kPassesToEnd = 12;
/// How often an exact value is tried for there.
constexpr int kMaxLooksAtEnd = 3;
/// A solve whose weights may be those of a λ further away than this has not told h.
constexpr double kResolved = 0.3;
/// An inexact scan ends where so many values have risen one after the other, to so many times the best.
/// Columns of different scales may have a valley each: there it takes twice as many values, and they must
/// rise further.
constexpr int kRises = 2;
constexpr double kOverfitted = 1.1;
constexpr double kFarOverfitted = 4.0;
/// Where the columns have one scale and a Hessian is kept, one more of them is enough for a smaller rise.
constexpr double kSlightlyOverfitted = 1.03;

}  // namespace

void Scan::begin(BasinSearch& search, double start) const {
  if (tells_between_) search.skim(kStride, start);
}

double Scan::spacing(const BilevelProblem& problem, const MyHpo::Settings& settings, Depth depth) {
  const double width = settings.spacing * problem.traits().feature_width;
  if (problem.traits().has_closed_form) return kClosedFormSpacing * width;
  if (!problem.traits().factors_cheaply) return (depth == Depth::usual ? 1.0 : kTellingSpacing) * width;
  return (has_l1_kinks(problem) ? kL1Spacing : kFactoredSpacing) * width;
}

double Scan::plain_below(const BilevelProblem& problem) {
  const auto least = problem.least_curvatures();
  if (!problem.traits().has_closed_form || !least || !((*least)[0] > 0.0))
    return -std::numeric_limits<double>::infinity();
  return std::log(0.5 * kNextToNone * (*least)[0]);
}

void Scan::advance(Curve& curve, BasinSearch& search) {
  if (problem_.traits().has_closed_form) return add_closed_forms(search);
  if (!is_exact(problem_)) return add_inexact_point(curve, search);
  for (int point = 0; search.scanning() && point < kPointsAStep; ++point) {
    add_exact_point(curve, search);
    if (!search.scanning()) search.scan_between();
  }
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
  has_unresolved_ |= !(sample.blur <= kResolved);
  const bool is_usual = depth_ == Depth::usual;
  const bool overfits = is_usual && only_overfits(sample, last, curve, search);
  is_level_ =
      !overfits && are_level(sample.value, last, search) &&
      (is_usual ? is_level_below(sample, last, curve, search) : is_level_to_end(sample, curve, search));
  if (overfits || is_level_) search.end_scan();
}

bool Scan::are_level(double a, double b, const BasinSearch& search) const {
  const double best = search.best_value();
  const double share = depth_ == Depth::usual ? kLevelAbove : kLevelAboveExact;
  return std::abs(a - b) <= std::max(kLevel * std::abs(best), share * (std::min(a, b) - best));
}

/// The exact value at the end of the range is level with that of the sample.
bool Scan::is_level_to_end(const Sample& sample, Curve& curve, BasinSearch& search) {
  if (search.left_to_scan().empty()) return false;
  if (!at_end_ && looks_at_end_++ < kMaxLooksAtEnd) {
    const Sample end = curve.evaluate(search.left_to_scan().back(), Exactness::exact_value(kPassesToEnd));
    if (std::isfinite(end.value)) at_end_ = end;
  }
  if (!at_end_ || !are_level(sample.value, at_end_->value, search)) return false;
  search.add(*at_end_);
  return true;
}

/// The last two values are level, and so is the one at the end of the scan: then what lies between is, too.
/// A smaller penalty takes every direction of the weights nearer to where it is without any, and none back.
bool Scan::is_level_below(const Sample& sample, double last, Curve& curve, BasinSearch& search) {
  // A value that is equal to the last digit came from the same weights and tells nothing new.
  if (!curve.has_memory() || search.left_to_scan().size() < 2 || sample.value == last) return false;
  const Sample end =
      curve.evaluate(search.left_to_scan().back(), Exactness::look(kScanTau, kNoGradient, kPassesToEnd));
  search.add(end);
  return are_level(sample.value, end.value, search);
}

/// A coarse solve is enough where it tells h, and dear where it does not: then its weights may be those of a
/// λ far away, and likely those of the λ that follow are too.
Sample Scan::coarse_sample(double lambda, Curve& curve, const BasinSearch& search) {
  if (depth_ == Depth::to_level)
    return curve.evaluate(lambda, Exactness::value_only(kTellingTau, kLeastGradient));
  if (curve.has_memory())
    return curve.evaluate(lambda, Exactness::value_only(rises_ > 0 ? kRisingTau : kScanTau, kNoGradient));
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
bool Scan::only_overfits(const Sample& sample, double last, const Curve& curve, const BasinSearch& search) {
  rises_ = sample.value > last ? rises_ + 1 : 0;
  const double best = search.best_value();
  const auto is_above = [&](double times) { return sample.value - best > (times - 1.0) * std::abs(best); };
  if (!columns_are_alike_) return rises_ >= 2 * kRises && is_above(kFarOverfitted);
  return (rises_ >= kRises && is_above(kOverfitted)) ||
         (curve.has_memory() && rises_ > kRises && is_above(kSlightlyOverfitted));
}

}  // namespace yosida
