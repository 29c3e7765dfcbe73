#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "yosida/data/dataset.hpp"
#include "yosida/random.hpp"

namespace yosida {

/// A table with named columns of different units: "a" in ones, "b" in thousands around 5000, "c" in
/// thousandths. The target is 3 + 2a − b/1000 + 500c and noise.
inline Dataset numeric_table(Index rows, std::uint64_t seed = 1) {
  Random random(seed);
  Matrix x(rows, 3);
  Vector y(rows);
  for (Index i = 0; i < rows; ++i) {
    x.row(i) << random.normal(), 5000.0 + 1000.0 * random.normal(), 0.001 * random.normal();
    y[i] = 3.0 + 2.0 * x(i, 0) - x(i, 1) / 1000.0 + 500.0 * x(i, 2) + 0.3 * random.normal();
  }
  return {.x = Design(x), .y = y, .feature_names = {"a", "b", "c"}, .target_name = "y", .source = "table"};
}

/// The same features; the target is the label of the largest of noisy sums, by the labels given.
inline Dataset class_table(Index rows, const std::vector<double>& labels, std::uint64_t seed = 2) {
  Dataset table = numeric_table(rows, seed);
  Random random(seed + 100);
  const auto classes = static_cast<Index>(labels.size());
  const Matrix x = to_matrix(table.x);
  for (Index i = 0; i < rows; ++i) {
    const double place = std::floor(0.5 * static_cast<double>(classes) + x(i, 0) + 0.3 * random.normal());
    const Index k = std::min(std::max(static_cast<Index>(place), Index{0}), classes - 1);
    table.y[i] = labels[static_cast<std::size_t>(k)];
  }
  return table;
}

}  // namespace yosida
