#include <algorithm>
#include <cmath>

#include "model/pointwise.hpp"

namespace yosida {
namespace {

/// e^m − ym − (y − y log y): half the deviance of a count y from the mean e^m. The last term is a constant;
/// with it the loss is never negative, and what is relative to a loss has a meaning.
struct Poisson {
  static constexpr std::string_view name = "poisson";
  static constexpr Link link = Link::exponential;
  static constexpr bool quadratic = false;
  static constexpr bool jumps = false;
  static constexpr std::string_view targets = "at least 0";
  static bool accepts(double y) { return y >= 0.0; }

  /// An infinite mean is an infinite loss, also where ym overflows; with y = 0 there is no ym.
  static double value(double m, double y) {
    const double mean = std::exp(m);
    return std::isinf(mean) || y == 0.0 ? mean : std::max(mean - y * m - (y - y * std::log(y)), 0.0);
  }
  static double slope(double m, double y) { return std::exp(m) - y; }
  static double conjugate(double u, double y) { return t_log_t(u + y) - u - t_log_t(y); }
  static double curvature(double m, double) { return std::exp(m); }
};

}  // namespace

const Loss& poisson() {
  static const Pointwise<Poisson> loss;
  return loss;
}

}  // namespace yosida
