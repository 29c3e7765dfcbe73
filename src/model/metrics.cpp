#include "model/metrics.hpp"

#include <cmath>
#include <vector>

#include "linalg/row_numbers.hpp"
#include "linalg/unit_scale.hpp"

namespace yosida {
namespace {

double share_of(const Design& x, FunctionRef<bool(Index row)> holds) {
  return static_cast<double>(count_of(x, holds)) / static_cast<double>(x.rows());
}

/// hits(k) / all(k) of the second of two classes, or the mean over classes that are there.
template <typename Hits, typename All>
std::optional<double> of_classes(const Matrix& confusion, Hits hits, All all) {
  const Index classes = confusion.rows();
  double sum = 0.0;
  Index there = 0;
  for (Index k = classes == 2 ? 1 : 0; k < classes; ++k) {
    if (confusion.row(k).sum() + confusion.col(k).sum() == 0.0) continue;
    ++there;
    if (all(k) > 0.0) sum += hits(k) / all(k);
  }
  return there > 0 ? std::optional(sum / static_cast<double>(there)) : std::nullopt;
}

}  // namespace

double variance(const Design& x, const Vector& y, const Vector& weight) {
  return mean_of(x, (y.array() - mean_of(x, y, weight)).square().matrix(), weight);
}

std::optional<double> r_squared(const Design& x, const Vector& y, const Vector& m, const Vector& weight) {
  // Its squares may overflow or vanish though it does not: by a power of 2 nothing is rounded.
  const double scale = unit_scale(largest_of(x, y));
  const double spread = variance(x, scale * y, weight);
  if (!(spread > 0.0)) return std::nullopt;
  const auto square = (scale * y - scale * m).cwiseAbs2();
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

Matrix confusion_matrix(const Design& x, const Vector& y, const Vector& m, Index classes) {
  const bool has_signs = m.size() == y.size();  // one margin a row, and y ∈ {−1, +1}
  const auto pair_of = [&](Index i) {
    Index truth = y[i] > 0.0 ? 1 : 0;
    Index said = has_signs && m[i] >= 0.0 ? 1 : 0;
    if (!has_signs) {
      truth = static_cast<Index>(y[i]);
      m.segment(i * classes, classes).maxCoeff(&said);
    }
    return truth * classes + said;
  };
  const std::vector<Index> counts = counts_of(x, classes * classes, pair_of);
  Matrix confusion(classes, classes);
  for (Index i = 0; i < confusion.size(); ++i)
    confusion.data()[i] = static_cast<double>(counts[static_cast<std::size_t>(i)]);
  return confusion;
}

std::optional<double> precision(const Matrix& confusion) {
  return of_classes(
      confusion, [&](Index k) { return confusion(k, k); }, [&](Index k) { return confusion.col(k).sum(); });
}

std::optional<double> recall(const Matrix& confusion) {
  if (confusion.rows() == 2 && confusion.row(1).sum() == 0.0) return std::nullopt;
  return of_classes(
      confusion, [&](Index k) { return confusion(k, k); }, [&](Index k) { return confusion.row(k).sum(); });
}

std::optional<double> f1(const Matrix& confusion) {
  return of_classes(
      confusion, [&](Index k) { return 2.0 * confusion(k, k); },
      [&](Index k) { return confusion.row(k).sum() + confusion.col(k).sum(); });
}

std::optional<double> balanced_accuracy(const Matrix& confusion) {
  double sum = 0.0;
  Index there = 0;
  for (Index k = 0; k < confusion.rows(); ++k)
    if (const double rows = confusion.row(k).sum(); rows > 0.0) {
      sum += confusion(k, k) / rows;
      ++there;
    }
  return there > 0 ? std::optional(sum / static_cast<double>(there)) : std::nullopt;
}

double mean_absolute_error(const Design& x, const Vector& y, const Vector& m, const Vector& weight) {
  return mean_of(x, (y - m).cwiseAbs(), weight);
}

double root_mean_squared_error(const Design& x, const Vector& y, const Vector& m, const Vector& weight) {
  // Squares may overflow or vanish though errors do not.
  const Vector error = y - m;
  const double scale = unit_scale(largest_of(x, error));
  return std::sqrt(mean_of(x, (scale * error).cwiseAbs2(), weight)) / scale;
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
