#include "model/metrics.hpp"

#include "linalg/row_numbers.hpp"
#include "linalg/unit_scale.hpp"

namespace yosida {
namespace {

double share_of(const Design& x, FunctionRef<bool(Index row)> holds) {
  return static_cast<double>(count_of(x, holds)) / static_cast<double>(x.rows());
}

}  // namespace

double variance(const Design& x, const Vector& y, const Vector& weight) {
  return mean_of(x, (y.array() - mean_of(x, y, weight)).square(), weight);
}

std::optional<double> r_squared(const Design& x, const Vector& y, const Vector& m, const Vector& weight) {
  // Its squares may overflow or vanish though it does not: by a power of 2 nothing is rounded.
  const double scale = unit_scale(largest_of(x, y));
  const double spread = variance(x, scale * y, weight);
  if (!(spread > 0.0)) return std::nullopt;
  const Vector square = (scale * y - scale * m).cwiseAbs2();
  const double total = weight.size() == 0 ? sum_of(x, square) : dot_of(x, weight, square);
  return 1.0 - total / (spread * total_weight(x, weight));
}

double accuracy(const Design& x, const Vector& y, const Vector& m) {
  return share_of(x, [&](Index i) { return (m[i] >= 0.0) == (y[i] > 0.0); });
}

double accuracy(const Design& x, const Vector& y, const Vector& m, Index classes) {
  return share_of(x, [&](Index i) {
    Index largest = 0;
    m.segment(i * classes, classes).maxCoeff(&largest);
    return static_cast<double>(largest) == y[i];
  });
}

std::optional<double> area_under_roc(const Design& x, const Vector& y, const Vector& m) {
  const auto rows = in_order_of(x, m, y);
  double positives = 0.0;
  double rank_sum = 0.0;  // of the positives, ties given their mean rank
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i;
    double tied_positives = 0.0;
    while (end < rows.size() && rows[end].first == rows[i].first)
      tied_positives += rows[end++].second > 0.0 ? 1.0 : 0.0;
    rank_sum += tied_positives * 0.5 * static_cast<double>(i + 1 + end);
    positives += tied_positives;
    i = end;
  }
  const double negatives = static_cast<double>(rows.size()) - positives;
  if (positives == 0.0 || negatives == 0.0) return std::nullopt;
  return (rank_sum - 0.5 * positives * (positives + 1.0)) / (positives * negatives);
}

}  // namespace yosida
