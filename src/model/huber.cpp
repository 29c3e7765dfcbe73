#include <algorithm>
#include <cmath>

#include "model/pointwise.hpp"

namespace yosida {
namespace {

constexpr double kDelta = 1.345;

/// With r = y − m: ½ r² for |r| ≤ δ, δ|r| − ½ δ² beyond.
struct Huber : Numbers {
  static constexpr std::string_view name = "huber";
  static constexpr bool quadratic = false;
  static constexpr bool jumps = true;
  static double value(double m, double y) {
    const double r = std::abs(y - m);
    return r <= kDelta ? 0.5 * r * r : kDelta * (r - 0.5 * kDelta);
  }
  static double slope(double m, double y) { return std::clamp(m - y, -kDelta, kDelta); }
  static double conjugate(double u, double y) {
    return std::abs(u) <= kDelta ? 0.5 * u * u + u * y : std::numeric_limits<double>::infinity();
  }
  static double curvature(double m, double y) { return std::abs(y - m) <= kDelta ? 1.0 : 0.0; }
};

}  // namespace

const Loss& huber() {
  static const Pointwise<Huber> loss;
  return loss;
}

}  // namespace yosida
