#include "linalg/row_numbers.hpp"

#include <algorithm>
#include <set>

#include "linalg/ranks.hpp"

namespace yosida {
namespace {

/// The numbers of all rows, for those who look at each: a process may have those of its own rows alone.
Vector of_all_rows(const Design& x, Vector numbers) {
  if (numbers.size() > 0) linalg::gather_rows(x.rows(), numbers.size() / x.rows(), numbers.data());
  return numbers;
}

}  // namespace

double sum_of(const Design& x, const Vector& numbers) {
  return x.sum_rows(1,
                    [&](Index first, Index count, double*) { return numbers.segment(first, count).sum(); });
}

double dot_of(const Design& x, const Vector& a, const Vector& b) {
  return x.sum_rows(1, [&](Index first, Index count, double*) {
    return a.segment(first, count).dot(b.segment(first, count));
  });
}

double total_weight(const Design& x, const Vector& weight) {
  return weight.size() == 0 ? static_cast<double>(x.rows()) : sum_of(x, weight);
}

double mean_of(const Design& x, const Vector& numbers, const Vector& weight) {
  return (weight.size() == 0 ? sum_of(x, numbers) : dot_of(x, weight, numbers)) / total_weight(x, weight);
}

double largest_of(const Design& x, const Vector& numbers) {
  return x.rows() == 0 ? 0.0 : of_all_rows(x, numbers.cwiseAbs()).maxCoeff<Eigen::PropagateNaN>();
}

std::vector<double> distinct_of(const Design& x, const Vector& numbers) {
  const Vector all = of_all_rows(x, numbers);
  const std::set<double> values(all.begin(), all.end());
  return {values.begin(), values.end()};
}

bool is_constant(const Design& x, const Vector& numbers) {
  if (x.rows() == 0) return true;
  const Vector all = of_all_rows(x, numbers);
  return (all.array() == all[0]).all();
}

std::vector<Index> counts_of(const Design& x, Index kinds, KindOfRow kind) {
  std::vector<double> counts(static_cast<std::size_t>(kinds), 0.0);
  x.sum_rows(
      1,
      [&](Index first, Index count, double* sums) {
        for (Index i = first; i < first + count; ++i) sums[kind(i)] += 1.0;
        return 0.0;
      },
      counts);
  return {counts.begin(), counts.end()};
}

Index count_of(const Design& x, FunctionRef<bool(Index row)> holds) {
  return static_cast<Index>(x.sum_rows(1, [&](Index first, Index count, double*) {
    Index held = 0;
    for (Index i = first; i < first + count; ++i) held += holds(i) ? 1 : 0;
    return static_cast<double>(held);
  }));
}

std::vector<std::pair<double, double>> in_order_of(const Design& x, const Vector& key, const Vector& value) {
  const Vector keys = of_all_rows(x, key), values = of_all_rows(x, value);
  std::vector<std::pair<double, double>> rows;
  rows.reserve(static_cast<std::size_t>(x.rows()));
  for (Index i = 0; i < x.rows(); ++i) rows.emplace_back(keys[i], values[i]);
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return rows;
}

}  // namespace yosida
