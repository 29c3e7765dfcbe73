#include <algorithm>
#include <cmath>
#include <span>

#include "model/pointwise.hpp"

namespace yosida {
namespace {

/// log(1 + e^{−ym}), y ∈ {−1, +1}
struct Logistic : Labelled {
  static constexpr std::string_view name = "logistic";
  static constexpr Link link = Link::probability;
  static constexpr bool quadratic = false;

  /// Without overflow for large −ym, and exact for large ym.
  static double value(double m, double y) {
    const double z = -y * m;
    return z > 0.0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
  }
  /// Σ log(1 + e^z) = Σ max(z, 0) + log Π (1 + e^{−|z|}), with one logarithm for some rows: q = Π (1 + e) − 1
  /// is a sum of positive terms, so that small losses keep their digits.
  static double sum(std::span<const double> m, std::span<const double> y) {
    constexpr std::size_t kRows = 16;
    double total = 0.0;
    for (std::size_t first = 0; first < m.size(); first += kRows) {
      double q = 0.0;
      for (std::size_t i = first; i < std::min(first + kRows, m.size()); ++i) {
        const double z = -y[i] * m[i];
        const double e = std::exp(-std::abs(z));
        total += z > 0.0 ? z : 0.0;
        q += e + q * e;  // not a number where z is none
      }
      total += std::log1p(q);
    }
    return total;
  }
  /// −y σ(−ym) = −y / (1 + e^{ym})
  static double slope(double m, double y) {
    const double z = -y * m;
    const double e = std::exp(-std::abs(z));
    return -y * (z > 0.0 ? 1.0 : e) / (1.0 + e);
  }
  static double conjugate(double u, double y) { return t_log_t(-u * y) + t_log_t(1.0 + u * y); }
  /// σ(ym) σ(−ym), as e^{−|m|} / (1 + e^{−|m|})²: no cancellation in the tails.
  static double curvature(double m, double) {
    const double e = std::exp(-std::abs(m));
    return e / ((1.0 + e) * (1.0 + e));
  }
};

}  // namespace

const Loss& logistic() {
  static const Pointwise<Logistic> loss;
  return loss;
}

}  // namespace yosida
