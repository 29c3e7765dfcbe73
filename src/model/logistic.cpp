#include <cmath>

#include "yosida/model/loss.hpp"

namespace yosida {
namespace {

/// log(1 + e^{−ym}), without overflow for large −ym and exact for large ym.
double value(double m, double y) {
  const double z = -y * m;
  return z > 0.0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
}

/// σ(−ym) = 1 / (1 + e^{ym})
double miss(double m, double y) {
  const double z = -y * m;
  const double e = std::exp(-std::abs(z));
  return (z > 0.0 ? 1.0 : e) / (1.0 + e);
}

double slope(double m, double y) { return -y * miss(m, y); }

/// σ(ym) σ(−ym), as e^{−|m|} / (1 + e^{−|m|})²: no cancellation in the tails.
double curvature(double m) {
  const double e = std::exp(-std::abs(m));
  return e / ((1.0 + e) * (1.0 + e));
}

class Logistic final : public Loss {
 public:
  std::string_view name() const override { return "logistic"; }
  bool is_classification() const override { return true; }
  double sum(std::span<const double> m, std::span<const double> y) const override {
    double total = 0.0;
    for (std::size_t i = 0; i < m.size(); ++i) total += value(m[i], y[i]);
    return total;
  }
  void slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    for (std::size_t i = 0; i < m.size(); ++i) out[i] = slope(m[i], y[i]);
  }
  void curvatures(std::span<const double> m, std::span<const double>, std::span<double> out) const override {
    for (std::size_t i = 0; i < m.size(); ++i) out[i] = curvature(m[i]);
  }
};

}  // namespace

const Loss& logistic() {
  static const Logistic loss;
  return loss;
}

}  // namespace yosida
