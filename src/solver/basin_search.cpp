#include "yosida/solver/basin_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace yosida {
namespace {

using Sample = BasinSearch::Sample;

/// A new point keeps this share of an interval from both of its ends, unless slopes say it is nearly there.
constexpr double kEdge = 0.02;
/// A scanned value without a slope may hide a lower one beside it: by this share of the fall to it.
constexpr double kHidden = 0.5;

/// The minimum of the cubic through values and slopes of both ends, inside [a, b]; nothing where it falls
/// or rises all the way.
std::optional<std::pair<double, double>> cubic_minimum(const Sample& a, const Sample& b) {
  const double h = b.x - a.x;
  const double da = *a.slope * h;
  const double db = *b.slope * h;
  const double fall = b.value - a.value;
  // f(t) = a + da t + q t² + c t³ on t in [0, 1]
  const double q = 3.0 * fall - 2.0 * da - db;
  const double c = da + db - 2.0 * fall;
  double t = -1.0;
  if (std::abs(c) <= 1e-12 * std::abs(q)) {
    if (q > 0.0) t = -da / (2.0 * q);
  } else if (const double root = q * q - 3.0 * c * da; root >= 0.0) {
    // The root at which the second derivative is positive, without cancellation.
    const double s = std::sqrt(root);
    t = q >= 0.0 ? -da / (q + s) : (s - q) / (3.0 * c);
  }
  if (!(t > 0.0 && t < 1.0)) {
    // Values and slopes that contradict each other (rounding): the zero of the slope on a line.
    if (!(da < 0.0 && db > 0.0)) return {};
    t = da / (da - db);
  }
  return std::pair(a.x + t * h, a.value + t * (da + t * (q + t * c)));
}

}  // namespace

BasinSearch::BasinSearch(double low, double high, double spacing) {
  const auto intervals = std::max(8.0, std::ceil((high - low) / spacing));
  for (double i = 0.0; i <= intervals; ++i) scan_.push_back(high - (high - low) * (i / intervals));
  scan_.back() = low;
}

void BasinSearch::add(const Sample& sample) {
  const auto at = std::lower_bound(samples_.begin(), samples_.end(), sample.x,
                                   [](const Sample& each, double x) { return each.x < x; });
  if (at != samples_.end() && at->x == sample.x) {
    *at = sample;
  } else {
    samples_.insert(at, sample);
  }
  if (scanning() && sample.x == scan_[next_scan_]) ++next_scan_;
}

const Sample& BasinSearch::best() const {
  const bool refined = std::any_of(samples_.begin(), samples_.end(),
                                   [](const Sample& each) { return each.slope.has_value(); });
  const Sample* lowest = nullptr;
  for (const Sample& each : samples_) {
    if (refined && !each.slope) continue;
    if (lowest == nullptr || each.value < lowest->value) lowest = &each;
  }
  return *lowest;
}

bool BasinSearch::is_lowest_around(std::size_t i) const {
  return (i == 0 || samples_[i].value <= samples_[i - 1].value) &&
         (i + 1 == samples_.size() || samples_[i].value <= samples_[i + 1].value);
}

/// The most promising point of the interval [i, i + 1], or of its left end where that has no slope yet.
std::optional<BasinSearch::Candidate> BasinSearch::candidate(std::size_t i) const {
  const Sample& a = samples_[i];
  if (!a.slope && is_lowest_around(i)) {
    // Only the scan has been here: the bottom may lie lower on either side.
    double fall = 0.0;
    if (i > 0) fall = std::max(fall, samples_[i - 1].value - a.value);
    if (i + 1 < samples_.size()) fall = std::max(fall, samples_[i + 1].value - a.value);
    return Candidate{a.x, a.value - kHidden * std::min(fall, a.value), 0.0};
  }
  if (i + 1 == samples_.size()) return {};
  const Sample& b = samples_[i + 1];
  const double width = b.x - a.x;
  std::optional<std::pair<double, double>> low;
  if (a.slope && b.slope) {
    low = cubic_minimum(a, b);
  } else if (a.slope && *a.slope < 0.0) {  // the parabola by its slope here and its value there
    const double curvature = (b.value - a.value) / (width * width) - *a.slope / width;
    const double t = curvature > 0.0 ? std::min(-*a.slope / (2.0 * curvature), width) : width;
    low = std::pair(a.x + t, a.value + t * (*a.slope + t * curvature));
  } else if (b.slope && *b.slope > 0.0) {
    const double curvature = (a.value - b.value) / (width * width) + *b.slope / width;
    const double t = curvature > 0.0 ? std::min(*b.slope / (2.0 * curvature), width) : width;
    low = std::pair(b.x - t, b.value - t * (*b.slope - t * curvature));
  }
  if (!low) return {};
  return Candidate{low->first, low->second, width};
}

std::optional<BasinSearch::Proposal> BasinSearch::propose(double relative_gain, double tolerance) const {
  if (scanning()) return Proposal{scan_[next_scan_], true, 0.0};
  const double worth = best().value - relative_gain * std::abs(best().value);
  std::optional<Candidate> most;
  std::size_t at = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const std::optional<Candidate> each = candidate(i);
    if (!each || (most && each->value >= most->value)) continue;
    const bool unknown = each->width == 0.0;  // a scanned point to be refined
    if (!unknown && each->width < tolerance) continue;
    if (best().slope && each->value >= worth) continue;
    most = each;
    at = i;
  }
  if (!most) return {};
  if (most->width == 0.0) return Proposal{most->x, false, 0.0};
  const double a = samples_[at].x;
  const double edge = kEdge * most->width;
  // An end without a slope is refined itself where the bottom seems to lie there.
  double x = most->x;
  if (x > a + most->width - edge && !samples_[at + 1].slope)
    x = a + most->width;
  else if (x < a + edge && !samples_[at].slope)
    x = a;
  else
    x = std::clamp(x, a + std::min(edge, 0.25 * tolerance),
                   a + most->width - std::min(edge, 0.25 * tolerance));
  return Proposal{x, false, most->width};
}

}  // namespace yosida
