#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include "yosida/model/loss.hpp"

namespace yosida {

/// A Loss of one output from the formulas of one row: static functions value(m, y), slope(m, y), curvature(m,
/// y), conjugate(u, y), accepts(y) and the constants name, link, quadratic, jumps,
/// targets. Where many rows cost less together, values(m, y, out), slopes, curvatures of many rows take the
/// place of these, and sum(m, y) and sum_and_slopes(m, y, out) may stand beside them.
template <typename Formulas>
class Pointwise final : public Loss {
 public:
  std::string_view name() const override { return Formulas::name; }
  Link link() const override { return Formulas::link; }
  bool is_quadratic() const override { return Formulas::quadratic; }
  bool has_jumps() const override { return Formulas::jumps; }
  bool accepts(double y) const override { return Formulas::accepts(y); }
  std::string targets() const override { return std::string(Formulas::targets); }
  double sum(std::span<const double> m, std::span<const double> y) const override {
    if constexpr (requires { Formulas::sum(m, y); }) {
      return Formulas::sum(m, y);
    } else {
      double total = 0.0;
      for (std::size_t i = 0; i < m.size(); ++i) total += Formulas::value(m[i], y[i]);
      return total;
    }
  }
  void values(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    if constexpr (requires { Formulas::values(m, y, out); }) {
      Formulas::values(m, y, out);
    } else {
      for (std::size_t i = 0; i < m.size(); ++i) out[i] = Formulas::value(m[i], y[i]);
    }
  }
  void slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) const override {
    if constexpr (requires { Formulas::slopes(m, y, out); }) {
      Formulas::slopes(m, y, out);
    } else {
      for (std::size_t i = 0; i < m.size(); ++i) out[i] = Formulas::slope(m[i], y[i]);
    }
  }
  double sum_and_slopes(std::span<const double> m, std::span<const double> y,
                        std::span<double> out) const override {
    if constexpr (requires { Formulas::sum_and_slopes(m, y, out); }) {
      return Formulas::sum_and_slopes(m, y, out);
    } else {
      return Loss::sum_and_slopes(m, y, out);
    }
  }
  void conjugates(std::span<const double> u, std::span<const double> y,
                  std::span<double> out) const override {
    for (std::size_t i = 0; i < u.size(); ++i) out[i] = Formulas::conjugate(u[i], y[i]);
  }
  void curvatures(std::span<const double> m, std::span<const double> y,
                  std::span<double> out) const override {
    if constexpr (requires { Formulas::curvatures(m, y, out); }) {
      Formulas::curvatures(m, y, out);
    } else {
      for (std::size_t i = 0; i < m.size(); ++i) out[i] = Formulas::curvature(m[i], y[i]);
    }
  }
  void apply_curvatures(std::span<const double> state, std::span<const double> dm,
                        std::span<double> out) const override {
    for (std::size_t i = 0; i < dm.size(); ++i) out[i] = state[i] * dm[i];
  }
  void diagonal_curvatures(std::span<const double> state, std::span<double> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = state[i];
  }
  void add_curvatures(std::span<const double> state, std::span<const double> s,
                      std::span<double> out) const override {
    for (std::size_t i = 0; i < state.size(); ++i) out[0] += (s.empty() ? 1.0 : s[i]) * state[i];
  }
};

/// t log t on its domain t ≥ 0, or below 0 by rounding; ∞ outside it.
inline double t_log_t(double t) {
  constexpr double kRounding = 1e-14;
  return t > 0.0 ? t * std::log(t) : t >= -kRounding ? 0.0 : std::numeric_limits<double>::infinity();
}

/// What targets the formulas of a kind take.
struct Labelled {
  static constexpr bool jumps = false;
  static constexpr std::string_view targets = "−1 or +1";
  static bool accepts(double y) { return y == 1.0 || y == -1.0; }
};
struct Numbers {
  static constexpr Link link = Link::identity;
  static constexpr bool jumps = false;
  static constexpr std::string_view targets = "numbers";
  static bool accepts(double) { return true; }
};

}  // namespace yosida
