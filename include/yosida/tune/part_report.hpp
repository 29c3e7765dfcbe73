#pragma once

#include <optional>
#include <span>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// What one set of weights does on one part of the data. A measure that the model has not is not there.
struct PartReport {
  double loss;
  std::optional<double> scaled_loss = {}, r_squared = {}, accuracy = {}, area_under_roc = {};
};

/// One of the measures that a model may have beside its loss.
struct Measure {
  const char* name;
  const char* title;
  std::optional<double> PartReport::*value;
};
/// All of them, in the order in which they are shown.
std::span<const Measure> measures();

/// With folds, the means over them; a refit on all rows has no validation rows.
struct Report {
  PartReport train;
  std::optional<PartReport> validation = {}, test = {};
  /// Of a model whose penalty sets weights to 0, how many are not, intercepts not counted.
  std::optional<double> nonzero_weights = {};
};

}  // namespace yosida
