#pragma once

#include <utility>
#include <vector>

#include "yosida/linalg/design.hpp"

namespace yosida {

// Numbers kept for each row of a design, such as targets, weights and margins. Whoever sums, counts or
// compares them over all rows does it by these functions, which take the rows from the design as its own
// passes do. A sum is the same whatever the number of threads and wherever the rows lie.

/// Of a vector, or of what is computed from some number by number: it is computed as it is summed, and takes
/// no memory.
template <typename Numbers>
double sum_of(const Design& x, const Eigen::DenseBase<Numbers>& numbers) {
  return x.sum_rows(
      1, [&](Index first, Index count, double*) { return numbers.derived().segment(first, count).sum(); });
}
template <typename Numbers>
double dot_of(const Design& x, const Vector& a, const Eigen::MatrixBase<Numbers>& b) {
  return x.sum_rows(1, [&](Index first, Index count, double*) {
    return a.segment(first, count).dot(b.derived().segment(first, count));
  });
}
/// What all rows weigh together; each weighs 1 where no weights are given.
double total_weight(const Design& x, const Vector& weight);
/// Σ s_i v_i / Σ s_i, the weights s as above.
template <typename Numbers>
double mean_of(const Design& x, const Eigen::MatrixBase<Numbers>& numbers, const Vector& weight = {}) {
  return (weight.size() == 0 ? sum_of(x, numbers) : dot_of(x, weight, numbers)) / total_weight(x, weight);
}
/// The largest |number|; NaN where there is one, 0 of none.
double largest_of(const Design& x, const Vector& numbers);
/// The distinct numbers of all rows, rising.
std::vector<double> distinct_of(const Design& x, const Vector& numbers);
/// Whether every row has the same number; so it is where there are no rows.
bool is_constant(const Design& x, const Vector& numbers);

/// What `kind` says of a row: one of 0 … kinds − 1.
using KindOfRow = FunctionRef<Index(Index row)>;
/// How many rows there are of each kind.
std::vector<Index> counts_of(const Design& x, Index kinds, KindOfRow kind);
/// How many rows `holds` is true of.
Index count_of(const Design& x, FunctionRef<bool(Index row)> holds);

/// Both numbers of each row, by rising `key`, in any order where that is equal. What needs an order of all
/// rows has to hold them all.
std::vector<std::pair<double, double>> in_order_of(const Design& x, const Vector& key, const Vector& value);

}  // namespace yosida
