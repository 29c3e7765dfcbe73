#include <algorithm>

#include "model/pointwise.hpp"

namespace yosida {
namespace {

/// max(0, 1 − ym)², y ∈ {−1, +1}. Its second derivative jumps at ym = 1, where it is taken from the right.
struct SquaredHinge : Labelled {
  static constexpr std::string_view name = "svm";
  static constexpr Link link = Link::sign;
  static constexpr bool quadratic = false;
  static constexpr bool jumps = true;
  static double gap(double m, double y) { return std::max(0.0, 1.0 - y * m); }
  static double value(double m, double y) { return gap(m, y) * gap(m, y); }
  static double slope(double m, double y) { return -2.0 * y * gap(m, y); }
  static double conjugate(double u, double y) {
    const double t = -u * y;
    return t >= 0.0 ? 0.25 * t * t - t : std::numeric_limits<double>::infinity();
  }
  static double curvature(double m, double y) { return y * m < 1.0 ? 2.0 : 0.0; }
};

}  // namespace

const Loss& squared_hinge() {
  static const Pointwise<SquaredHinge> loss;
  return loss;
}

}  // namespace yosida
