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

  /// For classification: how many rows have each class (a row) and each predicted class (a column); with
  /// folds their sum.
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
  /// How many weights are not 0, intercepts not counted, for a model whose penalty sets weights to 0.
  std::optional<double> nonzero_weights = {};
};

}  // namespace yosida
