#include "model/third_derivatives.hpp"

#include <algorithm>
#include <cmath>

namespace yosida {
namespace {

void by_differences(const Loss& loss, std::span<const double> m, std::span<const double> y,
                    std::span<double> out) {
  constexpr double kStep = 6e-6;  // ε^{1/3}: rounding and the next derivative err alike
  for (std::size_t i = 0; i < m.size(); ++i) {
    const double step = kStep * std::max(1.0, std::abs(m[i]));
    const double low = m[i] - step, high = m[i] + step;
    double below = 0.0, above = 0.0;
    loss.curvatures({&low, 1}, y.subspan(i, 1), {&below, 1});
    loss.curvatures({&high, 1}, y.subspan(i, 1), {&above, 1});
    out[i] = (above - below) / (high - low);
  }
}

}  // namespace

void third_derivatives(const Loss& loss, std::span<const double> m, std::span<const double> y,
                       std::span<double> out) {
  if (loss.is_quadratic() || loss.has_jumps()) {
    std::fill(out.begin(), out.end(), 0.0);
  } else if (&loss == &poisson()) {
    loss.curvatures(m, y, out);  // e^m
  } else if (&loss == &logistic()) {
    // The curvature times σ(−m) − σ(m).
    loss.curvatures(m, y, out);
    for (std::size_t i = 0; i < m.size(); ++i) out[i] *= -std::tanh(0.5 * m[i]);
  } else {
    by_differences(loss, m, y, out);
  }
}

}  // namespace yosida
