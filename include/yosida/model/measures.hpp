#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  double y_scale = 1.0;  ///< what a unit of y is in the user's own units, where y is a number
};

/// A way to say how good predictions are.
struct Measure {
  std::string_view name;     // in JSON, flags and exports
  std::string_view title;    // for people
  std::string_view meaning;  // on the axis of a figure: what the number is
  bool larger_is_better;
  bool is_usual;  // shown where nobody asks for others
  bool leads;     // stands before the others in reports, where it exists: it compares across data sets
  bool (*exists)(const Loss&);
  std::optional<double> (*value)(const Predicted&);  // nothing where these rows do not define it
};

/// The one table of measures. Results, reports, the page, tables and flags know them from here.
std::span<const Measure> measures();
/// The place in the table; nothing where there is no such measure.
std::optional<std::size_t> find_measure(std::string_view name);
/// "loss, scaled_loss, …", for messages and help.
std::string measure_names();
/// The measures of a list of names, in the order of the table: "usual" stands for those, "all" for all. Those
/// that the loss does not have are left out of both. Throws InputError for an unknown name, and where a loss
/// does not have one that is named; `model` is what messages call that loss.
std::vector<std::size_t> parse_measures(const std::vector<std::string>& names, const Loss& loss,
                                        std::string_view model);
/// Throws InputError where there is no measure of this name.
void require_measure(std::string_view name);
/// Throws InputError where there is no such measure or the loss, which messages call `model`, does not have
/// it.
void require_measure(std::string_view name, const Loss& loss, std::string_view model);

/// Rows of a classification counted by their class (a row) and the class predicted (a column).
Matrix confusion_of(const Predicted& rows);

/// The measures that curves and oracles are in: the mean loss, and the mean loss over the variance of y.
inline constexpr std::string_view kLoss = "loss", kScaledLoss = "scaled_loss";

}  // namespace yosida
