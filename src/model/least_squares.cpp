#include "yosida/model/loss.hpp"

namespace yosida {
namespace {

double value(double m, double y) { return 0.5 * (y - m) * (y - m); }
double slope(double m, double y) { return m - y; }

class LeastSquares final : public Loss {
 public:
  std::string_view name() const override { return "ridge"; }
  bool is_classification() const override { return false; }
  bool is_quadratic() const override { return true; }
  double sum(std::span<const double> m, std::span<const double> y) const override {
    double total = 0.0;
    for (std::size_t i = 0; i < m.size(); ++i) total += value(m[i], y[i]);
    return total;
  }
  void slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    for (std::size_t i = 0; i < m.size(); ++i) out[i] = slope(m[i], y[i]);
  }
  void curvatures(std::span<const double> m, std::span<const double>, std::span<double> out) const override {
    for (std::size_t i = 0; i < m.size(); ++i) out[i] = 1.0;
  }
};

}  // namespace

const Loss& least_squares() {
  static const LeastSquares loss;
  return loss;
}

}  // namespace yosida
