#include "model/pointwise.hpp"

namespace yosida {
namespace {

/// ½ (y − m)²
struct LeastSquares : Numbers {
  static constexpr std::string_view name = "ridge";
  static constexpr bool quadratic = true;
  static double value(double m, double y) { return 0.5 * (y - m) * (y - m); }
  static double slope(double m, double y) { return m - y; }
  static double conjugate(double u, double y) { return 0.5 * u * u + u * y; }
  static double curvature(double, double) { return 1.0; }
};

}  // namespace

const Loss& least_squares() {
  static const Pointwise<LeastSquares> loss;
  return loss;
}

}  // namespace yosida
