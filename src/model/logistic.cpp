#include <algorithm>
#include <cmath>
#include <span>

#include "model/exponentials.hpp"
#include "model/pointwise.hpp"

namespace yosida {
namespace {

/// Rows that are worked on at a time.
constexpr std::size_t kRows = 64;

/// Calls each(m, y, e, out) for some rows after the other, with e_i = e^{−|m_i|}: what the loss and its
/// derivatives are made of, without overflow and without cancellation in the tails.
template <typename Each>
void by_exponentials(std::span<const double> m, std::span<const double> y, std::span<double> out,
                     const Each& each) {
  double e[kRows];
  for (std::size_t first = 0; first < m.size(); first += kRows) {
    const std::size_t count = std::min(kRows, m.size() - first);
    for (std::size_t i = 0; i < count; ++i) e[i] = -std::abs(m[first + i]);
    exponentials(e, static_cast<long>(count), e);
    each(m.subspan(first, count), y.subspan(first, count), std::span<const double>(e, count),
         out.empty() ? out : out.subspan(first, count));
  }
}
/// out_i = formula(m_i, y_i, e_i)
template <typename Formula>
void each_row(std::span<const double> m, std::span<const double> y, std::span<double> out,
              const Formula& formula) {
  by_exponentials(m, y, out, [&](auto part, auto targets, auto e, auto place) {
    for (std::size_t i = 0; i < part.size(); ++i) place[i] = formula(part[i], targets[i], e[i]);
  });
}

/// log(1 + e^{−ym}), y ∈ {−1, +1}
struct Logistic : Labelled {
  static constexpr std::string_view name = "logistic";
  static constexpr Link link = Link::probability;
  static constexpr bool quadratic = false;

  /// max(−ym, 0) + log(1 + e^{−|m|})
  static void values(std::span<const double> m, std::span<const double> y, std::span<double> out) {
    each_row(m, y, out, [](double margin, double target, double e) {
      return std::max(-target * margin, 0.0) + std::log1p(e);
    });
  }
  /// −y σ(−ym) = −y / (1 + e^{ym})
  static double slope(double margin, double target, double e) {
    return -target * (target * margin < 0.0 ? 1.0 : e) / (1.0 + e);
  }
  static void slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) {
    each_row(m, y, out, slope);
  }
  /// Σ of the values with one logarithm for some rows, log Π (1 + e): q = Π (1 + e) − 1 is a sum of positive
  /// terms, so that small losses keep their digits. Each of eight q has an eighth of the rows.
  static double sum_of(std::span<const double> m, std::span<const double> y, std::span<const double> e) {
    constexpr std::size_t kParts = 8;
    double above[kParts] = {}, q[kParts] = {};
    const auto add = [&](std::size_t i, std::size_t k) {
      above[k] += std::max(-y[i] * m[i], 0.0);
      q[k] += e[i] + q[k] * e[i];  // not a number where m is none
    };
    const std::size_t whole = m.size() / kParts * kParts;
    for (std::size_t i = 0; i < whole; i += kParts)
      for (std::size_t k = 0; k < kParts; ++k) add(i + k, k);
    for (std::size_t i = whole; i < m.size(); ++i) add(i, i - whole);
    for (std::size_t k = 1; k < kParts; ++k) {
      above[0] += above[k];
      q[0] += q[k] + q[0] * q[k];
    }
    return above[0] + std::log1p(q[0]);
  }
  static double sum(std::span<const double> m, std::span<const double> y) {
    double total = 0.0;
    by_exponentials(m, y, {},
                    [&](auto part, auto targets, auto e, auto) { total += sum_of(part, targets, e); });
    return total;
  }
  static double sum_and_slopes(std::span<const double> m, std::span<const double> y, std::span<double> out) {
    double total = 0.0;
    by_exponentials(m, y, out, [&](auto part, auto targets, auto e, auto place) {
      total += sum_of(part, targets, e);
      for (std::size_t i = 0; i < part.size(); ++i) place[i] = slope(part[i], targets[i], e[i]);
    });
    return total;
  }
  /// σ(ym) σ(−ym), as e^{−|m|} / (1 + e^{−|m|})²
  static void curvatures(std::span<const double> m, std::span<const double> y, std::span<double> out) {
    each_row(m, y, out, [](double, double, double e) { return e / ((1.0 + e) * (1.0 + e)); });
  }
  static double conjugate(double u, double y) { return t_log_t(-u * y) + t_log_t(1.0 + u * y); }
};

}  // namespace

const Loss& logistic() {
  static const Pointwise<Logistic> loss;
  return loss;
}

}  // namespace yosida
