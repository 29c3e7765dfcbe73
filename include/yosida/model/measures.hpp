#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "yosida/data/dataset.hpp"
#include "yosida/export.hpp"
#include "yosida/model/loss.hpp"

namespace YOSIDA_EXPORT yosida {

/// What weights make of rows.
struct Predicted {
  const Dataset& data;
  const Loss& loss;
  const Vector& margins;
  double mean_loss;
};

/// A way to say how good predictions are.
struct Measure {
  std::string_view name;     // in JSON, flags and exports
  std::string_view title;    // for people
  std::string_view meaning;  // on the axis of a figure: what the number is
  bool larger_is_better;
  bool leads;  // stands before the others in reports, where it exists: it compares across data sets
  bool (*exists)(const Loss&);
  std::optional<double> (*value)(const Predicted&);  // nothing where these rows do not define it
};

/// The one table of measures. Results, reports, the page, tables and flags know them from here.
std::span<const Measure> measures();
/// The place in the table; nothing where there is no such measure.
std::optional<std::size_t> find_measure(std::string_view name);
/// "loss, scaled_loss, …", for messages and help.
std::string measure_names();

/// Those that curves and oracles are in: the mean loss, and the same over the variance of y.
inline constexpr std::string_view kLoss = "loss", kScaledLoss = "scaled_loss";

}  // namespace yosida
