#include "solver/kinked_minimum.hpp"

#include <algorithm>
#include <cmath>

namespace yosida {
namespace {

/// A slope of so small a share of the value is none: rounding leaves as much.
constexpr double kLevel = 1e-14;
/// Points that are so near to each other are one.
constexpr double kSame = 1e-12;
constexpr int kMostLooks = 60;

}  // namespace

KinkedMinimum::KinkedMinimum(double low, double first, double high)
    : first_(first), low_{.x = low}, high_{.x = high} {}

/// Two kinds of points are proposed by turns. The first is where the slope would be 0 if it were a line: this
/// is soon right where the function is smooth. The second is where the tangents of both ends meet: this is
/// soon right at a kink.
std::optional<double> KinkedMinimum::propose() const {
  const double width = high_.x - low_.x;
  if (is_found_ || looks_ >= kMostLooks) return {};
  if (looks_ == 0) return first_;
  if (!(width > kSame * std::max(1.0, std::abs(low_.x)))) return {};
  const double middle = low_.x + 0.5 * width;
  if (!low_.slope || !high_.slope) return middle;
  const double bend = *high_.slope - *low_.slope;
  const double way = looks_ % 2 == 0 ? -*low_.slope * width / bend
                                     : (low_.value - high_.value + *high_.slope * width) / bend;
  const double x = low_.x + way;
  return x > low_.x && x < high_.x ? x : middle;
}

void KinkedMinimum::add(const Sample& sample) {
  ++looks_;
  const double none = kLevel * std::abs(sample.value);
  if (sample.slope_above < -none) {
    low_ = {.x = sample.x, .value = sample.value, .slope = sample.slope_above};
  } else if (sample.slope_below > none) {
    high_ = {.x = sample.x, .value = sample.value, .slope = sample.slope_below};
  } else {
    is_found_ = true;
  }
}

}  // namespace yosida
