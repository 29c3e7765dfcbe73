#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/model/measures.hpp"

namespace YOSIDA_EXPORT yosida {

/// What one set of weights does on one part of the data.
struct PartReport {
  /// One for each of measures(); nothing where the model does not have it, or these rows do not define it.
  std::vector<std::optional<double>> values = std::vector<std::optional<double>>(measures().size());

  /// Of a classification, rows counted by their class (a row) and the class predicted (a column); with folds
  /// the sum over them.
  Matrix confusion = {};

  /// The value of a measure by its name, which must be in measures().
  const std::optional<double>& operator[](std::string_view measure) const {
    return values.at(find_measure(measure).value());
  }
};

/// What weights do on each part. With folds, values are means over them. A refit on all rows has no
/// validation rows.
struct Report {
  PartReport train;
  std::optional<PartReport> validation = {}, test = {};
  /// Of a model whose penalty sets weights to 0, how many are not, intercepts not counted.
  std::optional<double> nonzero_weights = {};
};

}  // namespace yosida
