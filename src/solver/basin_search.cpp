#include "solver/basin_search.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace yosida {
namespace {

using Sample = BasinSearch::Sample;

/// A new point keeps this share of an interval from both of its ends, unless slopes say it is nearly there.
constexpr double kEdge = 0.02;
/// A scan has no more intervals than this, however far the bounds are apart.
constexpr double kMaxIntervals = 500.0;
/// Points are so many times as far apart where h is plain.
constexpr double kPlainSpacing = 8.0;
/// The slope is nearly a line in a bracket narrower than this.
constexpr double kNarrow = 0.5;
/// Samples on one side of a minimum nearer to each other than this share of its bracket creep towards it.
constexpr double kShort = 0.25;
/// The first step into an interval of which one slope is known goes this share of the way.
constexpr double kFirstShare = 0.4;
/// A scanned value without a slope may hide a lower one beside it: by this share of the fall to it.
constexpr double kHidden = 0.5;
/// How much of the slope that a valley leaves may be covered by that of other steps, and by how much h may
/// rise between two points that tell what is between them, as a share of what it is above its least value.
constexpr double kCovered = 4.0;
constexpr double kRise = 0.5;
/// By how much a value may be wrong, as a share of it, for each unit of its blur, where it is compared with a
/// sharper one.
constexpr double kCaution = 0.3;
/// A scanned value is good enough to tell where the basins are, and no guide inside of one: a refined sample
/// takes the place of those so many times their blur away, but of none further than this.
constexpr double kOutdated = 10.0;
constexpr double kFarthestOutdated = 0.9;

/// How far away from an inexact sample a sharper one takes its place.
double reach_of(const Sample& sample) {
  return sample.slope ? sample.blur : std::min(kOutdated * sample.blur, kFarthestOutdated);
}

/// The minimum of the cubic through values and slopes of both ends, inside [a, b]; nothing where it falls
/// or rises all the way.
std::optional<std::pair<double, double>> cubic_minimum(const Sample& a, const Sample& b) {
  const double h = b.x - a.x;
  if (std::max(a.blur, b.blur) > 0.0 && h < kNarrow) {
    // Values solved to different tolerances differ by more than the fall between them: slopes alone.
    if (!(*a.slope < 0.0 && *b.slope > 0.0)) return {};
    const double t = std::clamp(*a.slope / (*a.slope - *b.slope), kEdge, 1.0 - kEdge);
    return std::pair(a.x + t * h, std::min(a.value, b.value) - 0.5 * t * h * std::min(-*a.slope, *b.slope));
  }
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

/// How far to go from `a` down its slope into an interval whose other end `b` has no slope: to a little
/// beyond where the line through this slope and a near one behind it crosses zero, so that the next slope has
/// the other sign; without such a one to the bottom of the parabola through b's value.
std::pair<double, double> beyond(const Sample& a, const Sample* behind, const Sample& b) {
  const double width = b.x - a.x;
  double step = kFirstShare * width;
  const double last = behind != nullptr && behind->slope ? a.x - behind->x : 0.0;
  if (last != 0.0 && (!std::isfinite(b.value) || std::abs(last) < 0.25 * std::abs(width))) {
    const double bend = (*a.slope - *behind->slope) / last;
    step = 2.5 * last;
    if (bend > 0.0) step = std::copysign(std::min(std::abs(1.2 * *a.slope / bend), std::abs(step)), width);
  } else if (std::isfinite(b.value)) {
    const double bend = (b.value - a.value) / (width * width) - *a.slope / width;
    step = bend > 0.0 ? -*a.slope / (2.0 * bend) : width;
  }
  if (std::abs(step) > std::abs(width)) step = width;
  return {a.x + step, a.value + 0.5 * step * *a.slope};
}

/// The bottom of the parabola through three values, kept in the middle halves of both intervals.
double vertex(const Sample& left, const Sample& middle, const Sample& right) {
  const double l = middle.x - left.x;
  const double r = right.x - middle.x;
  const double down = (middle.value - left.value) / l;
  const double up = (right.value - middle.value) / r;
  const double bend = (up - down) / (l + r);
  const double slope = (down * r + up * l) / (l + r);
  if (!(bend > 0.0)) return middle.x;
  return std::clamp(middle.x - slope / (2.0 * bend), middle.x - 0.5 * l, middle.x + 0.5 * r);
}

/// h is a level and steps of the width 1, up and down, whose slopes fall off as e^{−distance}. So a valley
/// between two points leaves at one of them a slope of about its depth times e^{−half their distance}. Where
/// neither has as much, h is above `least` between them.
bool is_above_between(const Sample& a, const Sample& b, double least) {
  if (!a.slope || !b.slope) return false;
  const double depth = std::min(a.value, b.value) - least;
  const double slope = std::max(std::abs(*a.slope), std::abs(*b.slope));
  return kCovered * slope * std::exp(0.5 * (b.x - a.x)) <= depth &&
         std::abs(b.value - a.value) <= kRise * depth;
}

/// A blurred value may be too low by luck.
double cautious(const Sample& sample) { return sample.value * (1.0 + kCaution * sample.blur); }

}  // namespace

BasinSearch::BasinSearch(double low, double high, double spacing, double start, double plain_below) {
  const double plain = plain_below < high ? std::max(plain_below, low) : low;
  const auto intervals = std::clamp(std::ceil((high - plain) / spacing), 8.0, kMaxIntervals);
  for (double i = 0.0; i <= intervals; ++i) scan_.push_back(high - (high - plain) * (i / intervals));
  scan_.back() = plain;
  if (plain > low) extend(plain, low, kPlainSpacing * spacing);
  const auto at = std::lower_bound(scan_.begin(), scan_.end(), start, std::greater<>());
  if (at != scan_.end() && *at != start) scan_.insert(at, start);
}

void BasinSearch::skim(std::size_t stride, double kept) {
  std::vector<double> first;
  for (std::size_t i = 0; i < scan_.size(); ++i) {
    const bool is_first = i % stride == 0 || i + 1 == scan_.size() || scan_[i] == kept;
    (is_first ? first : left_out_).push_back(scan_[i]);
  }
  scan_ = std::move(first);
}

void BasinSearch::scan_between() {
  const double least = best_value();
  std::vector<double> still_left_out;
  for (auto first = left_out_.begin(); first != left_out_.end();) {
    const auto above = std::lower_bound(samples_.begin(), samples_.end(), *first,
                                        [](const Sample& each, double x) { return each.x < x; });
    const auto below = std::prev(above);
    const auto last = std::find_if(first, left_out_.end(), [&](double x) { return x <= below->x; });
    if (!is_above_between(*below, *above, least)) {
      const auto middle = first + (last - first) / 2;
      scan_.push_back(*middle);
      still_left_out.insert(still_left_out.end(), first, middle);
      still_left_out.insert(still_left_out.end(), middle + 1, last);
    }
    first = last;
  }
  left_out_ = std::move(still_left_out);
}

double BasinSearch::share_scanned() const {
  if (!scanning()) return 1.0;
  return static_cast<double>(next_scan_) / static_cast<double>(scan_.size() + left_out_.size());
}

void BasinSearch::extend(double from, double to, double spacing) {
  const double intervals = std::clamp(std::ceil(std::abs(to - from) / spacing), 1.0, kMaxIntervals);
  for (double i = 1.0; i <= intervals; ++i) scan_.push_back(from + (to - from) * (i / intervals));
  scan_.back() = to;
}

void BasinSearch::forget_below(double x) {
  std::erase_if(samples_, [&](const Sample& each) { return each.x < x; });
  std::erase_if(walls_, [&](double each) { return each < x; });
}

void BasinSearch::add(const Sample& sample) {
  if (!scanning() && sample.value == kUnresolved) walls_.push_back(sample.x);
  if (sample.slope)
    std::erase_if(samples_, [&](const Sample& each) {
      return each.blur > sample.blur && std::abs(each.x - sample.x) <= reach_of(each);
    });
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
    if (lowest == nullptr || cautious(each) < cautious(*lowest)) lowest = &each;
  }
  return *lowest;
}

const Sample& BasinSearch::settled(double level) const {
  const Sample& lowest = best();
  if (!lowest.slope) return lowest;
  const double unseen = level * std::abs(lowest.value);
  const auto is_level = [&](const Sample& each) { return each.slope && each.value <= lowest.value + unseen; };
  const auto is_flat_below = [&] {
    return std::all_of(samples_.begin(), samples_.end(),
                       [&](const Sample& each) { return each.x >= lowest.x || is_level(each); });
  };
  const auto is_flat_above = [&] {
    return std::all_of(samples_.begin(), samples_.end(),
                       [&](const Sample& each) { return each.x <= lowest.x || is_level(each); });
  };
  if (*lowest.slope > -unseen && is_flat_below()) return samples_.front();
  if (*lowest.slope < unseen && is_flat_above()) return samples_.back();
  return lowest;
}

bool BasinSearch::is_lowest_around(std::size_t i) const {
  return (i == 0 || samples_[i].value <= samples_[i - 1].value) &&
         (i + 1 == samples_.size() || samples_[i].value <= samples_[i + 1].value);
}

/// The most promising point of the interval [i, i + 1], or of its left end where that has no slope yet.
std::optional<BasinSearch::Candidate> BasinSearch::candidate(std::size_t i) const {
  const Sample& a = samples_[i];
  if (!a.slope && std::isfinite(a.value) && is_lowest_around(i)) {
    // Only the scan has been here: the bottom may lie lower on either side.
    double fall = 0.0;
    if (i > 0) fall = std::max(fall, samples_[i - 1].value - a.value);
    if (i + 1 < samples_.size()) fall = std::max(fall, samples_[i + 1].value - a.value);
    if (!std::isfinite(fall)) fall = 0.0;
    const bool inside = i > 0 && i + 1 < samples_.size() && std::isfinite(samples_[i - 1].value) &&
                        std::isfinite(samples_[i + 1].value);
    return Candidate{inside ? vertex(samples_[i - 1], a, samples_[i + 1]) : a.x,
                     a.value - kHidden * std::min(fall, a.value), 0.0};
  }
  if (i + 1 == samples_.size()) return {};
  const Sample& b = samples_[i + 1];
  const double width = b.x - a.x;
  std::optional<std::pair<double, double>> low;
  // Slopes on one side of a minimum that come nearer to it in short steps: their own line leads across it
  // sooner than one to the far side.
  const auto creeps = [&](const Sample& end, const Sample* behind) {
    return end.blur > 0.0 && behind != nullptr && behind->slope && *behind->slope * *end.slope > 0.0 &&
           std::abs(behind->x - end.x) < kShort * width;
  };
  const Sample* before = i > 0 ? &samples_[i - 1] : nullptr;
  const Sample* after = i + 2 < samples_.size() ? &samples_[i + 2] : nullptr;
  if (a.slope && b.slope) {
    low = cubic_minimum(a, b);
    if (low && *a.slope < 0.0 && *b.slope > 0.0) {
      if (creeps(b, after)) {
        low = beyond(b, after, a);
      } else if (creeps(a, before)) {
        low = beyond(a, before, b);
      }
    }
  } else if (a.slope && *a.slope < 0.0) {
    low = beyond(a, before, b);
  } else if (b.slope && *b.slope > 0.0) {
    low = beyond(b, after, a);
  }
  if (!low) return {};
  return Candidate{low->first, low->second, width};
}

std::optional<BasinSearch::Proposal> BasinSearch::propose(double relative_gain, double tolerance,
                                                          double blur_of_value) const {
  if (scanning()) return Proposal{scan_[next_scan_], true};
  const Sample& lowest = best();
  const double worth = lowest.value - relative_gain * std::abs(lowest.value);
  // Values of inexact solves differ by more than what is still to be gained between them.
  const auto margin = [&](std::size_t i) {
    const double blur = std::max(samples_[i].blur, i + 1 < samples_.size() ? samples_[i + 1].blur : 0.0);
    return samples_[i].slope ? blur_of_value * blur * std::abs(lowest.value) : 0.0;
  };
  std::optional<Candidate> most;
  std::size_t at = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const std::optional<Candidate> each = candidate(i);
    if (!each || (most && each->value >= most->value)) continue;
    const bool unknown = each->width == 0.0;  // a scanned point to be refined
    if (!unknown && each->width < tolerance) continue;
    if (lowest.slope && each->value >= worth - margin(i)) continue;
    most = each;
    at = i;
  }
  if (!most) return {};
  if (most->width == 0.0) return Proposal{most->x, false};
  const double a = samples_[at].x;
  const double edge = kEdge * most->width;
  const auto is_wall = [&](double point) {
    return std::find(walls_.begin(), walls_.end(), point) != walls_.end();
  };
  // An end without a slope is refined itself where the bottom seems to lie there.
  double x = most->x;
  if (x > a + most->width - edge && !samples_[at + 1].slope)
    x = a + most->width;
  else if (x < a + edge && !samples_[at].slope)
    x = a;
  else
    x = std::clamp(x, a + std::min(edge, 0.25 * tolerance),
                   a + most->width - std::min(edge, 0.25 * tolerance));
  if (is_wall(x)) x = a + 0.5 * most->width;  // looked at already, and nothing there: half the way
  return Proposal{x, false};
}

}  // namespace yosida
