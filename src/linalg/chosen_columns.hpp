#pragma once

#include <span>
#include <vector>

#include "linalg/rows.hpp"

namespace yosida::linalg {

/// Calls visit(i, numbers) for each row with its numbers in these columns, every step applied. No other
/// column is touched, unless a step takes differences of them.
template <typename Visit>
void for_each_row_on(const Design& x, std::span<const Index> columns, const Visit& visit) {
  const ColumnMap map = Access::map(x);
  std::vector<double> chosen(columns.size());
  if (Access::storage(x).is_sparse || !map.is_diagonal()) {
    for_each_row(x, [&](Index i, const double* row) {
      for (std::size_t k = 0; k < columns.size(); ++k) chosen[k] = row[columns[k]];
      visit(i, static_cast<const double*>(chosen.data()));
    });
    return;
  }
  const std::vector<ColumnStep> steps = map.of(columns);
  visit_dense_rows(x, [&](const auto& rows) {
    for (Index i = 0; i < x.rows(); ++i) {
      const auto row = rows.row(i);
      for (std::size_t k = 0; k < columns.size(); ++k) chosen[k] = static_cast<double>(row[columns[k]]);
      ColumnMap(&steps).apply(chosen.data(), std::ssize(chosen));
      visit(i, static_cast<const double*>(chosen.data()));
    }
  });
}

}  // namespace yosida::linalg
