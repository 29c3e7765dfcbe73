#include "yosida/model/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "linalg/unit_scale.hpp"

namespace yosida {

double variance(const Vector& y, const Vector& weight) {
  if (weight.size() == 0) return (y.array() - y.mean()).square().mean();
  const double mean = weight.dot(y) / weight.sum();
  return ((y.array() - mean).square() * weight.array()).sum() / weight.sum();
}

std::optional<double> r_squared(const Vector& y, const Vector& m, const Vector& weight) {
  // Its squares may overflow or vanish though it does not: by a power of 2 nothing is rounded.
  const double scale = unit_scale(y.size() > 0 ? y.cwiseAbs().maxCoeff() : 0.0);
  const double spread = variance(scale * y, weight);
  if (!(spread > 0.0)) return std::nullopt;
  const Vector error = scale * y - scale * m;
  if (weight.size() == 0) return 1.0 - error.squaredNorm() / (spread * static_cast<double>(y.size()));
  return 1.0 - weight.dot(error.cwiseAbs2()) / (spread * weight.sum());
}

double accuracy(const Vector& y, const Vector& m) {
  Index hits = 0;
  for (Index i = 0; i < y.size(); ++i) hits += (m[i] >= 0.0) == (y[i] > 0.0) ? 1 : 0;
  return static_cast<double>(hits) / static_cast<double>(y.size());
}

double accuracy(const Vector& y, const Vector& m, Index classes) {
  Index hits = 0;
  for (Index i = 0; i < y.size(); ++i) {
    Index largest = 0;
    m.segment(i * classes, classes).maxCoeff(&largest);
    hits += static_cast<double>(largest) == y[i] ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(y.size());
}

Matrix confusion_matrix(const Vector& y, const Vector& m, Index classes) {
  Matrix counts = Matrix::Zero(classes, classes);
  for (Index i = 0; i < y.size(); ++i) {
    Index truth = y[i] > 0.0 ? 1 : 0;
    Index said = classes == 2 && m.size() == y.size() && m[i] >= 0.0 ? 1 : 0;
    if (m.size() != y.size()) {
      truth = static_cast<Index>(y[i]);
      m.segment(i * classes, classes).maxCoeff(&said);
    }
    counts(truth, said) += 1.0;
  }
  return counts;
}

namespace {

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

double mean_absolute_error(const Vector& y, const Vector& m, const Vector& weight) {
  if (weight.size() == 0) return (y - m).cwiseAbs().mean();
  return weight.dot((y - m).cwiseAbs()) / weight.sum();
}

double root_mean_squared_error(const Vector& y, const Vector& m, const Vector& weight) {
  const Vector error = y - m;
  if (weight.size() == 0) return error.stableNorm() / std::sqrt(static_cast<double>(y.size()));
  return weight.cwiseSqrt().cwiseProduct(error).stableNorm() / std::sqrt(weight.sum());
}

std::optional<double> area_under_roc(const Vector& y, const Vector& m) {
  std::vector<Index> order(static_cast<std::size_t>(y.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return m[a] < m[b]; });
  double positives = 0.0;
  double rank_sum = 0.0;  // of the positives, ties given their mean rank
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    double tied_positives = 0.0;
    while (end < order.size() && m[order[end]] == m[order[i]])
      tied_positives += y[order[end++]] > 0.0 ? 1.0 : 0.0;
    rank_sum += tied_positives * 0.5 * static_cast<double>(i + 1 + end);
    positives += tied_positives;
    i = end;
  }
  const double negatives = static_cast<double>(order.size()) - positives;
  if (positives == 0.0 || negatives == 0.0) return std::nullopt;
  return (rank_sum - 0.5 * positives * (positives + 1.0)) / (positives * negatives);
}

}  // namespace yosida
