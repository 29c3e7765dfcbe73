#pragma once

#include <string_view>

#include "yosida/model/loss.hpp"

namespace yosida {

/// A Loss from the formulas of one row: static functions value(m, y), slope(m, y), curvature(m, y) and the
/// constants name, classification, quadratic.
template <typename Formulas>
class Pointwise final : public Loss {
 public:
  std::string_view name() const override { return Formulas::name; }
  bool is_classification() const override { return Formulas::classification; }
  bool is_quadratic() const override { return Formulas::quadratic; }
  double sum(std::span<const double> m, std::span<const double> y) const override {
    double total = 0.0;
    for (std::size_t i = 0; i < m.size(); ++i) total += Formulas::value(m[i], y[i]);
    return total;
  }
  void slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    for (std::size_t i = 0; i < m.size(); ++i) out[i] = Formulas::slope(m[i], y[i]);
  }
  void curvatures(std::span<const double> m, std::span<const double> y,
                  std::span<double> out) const override {
    for (std::size_t i = 0; i < m.size(); ++i) out[i] = Formulas::curvature(m[i], y[i]);
  }
};

}  // namespace yosida
