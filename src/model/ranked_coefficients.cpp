#include "yosida/model/ranked_coefficients.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "csv_field.hpp"

namespace yosida {
namespace {

bool has_differences(const FittedModel& model) {
  const auto& steps = model.pretreatment.x;
  return std::any_of(steps.begin(), steps.end(),
                     [](const FittedStep& step) { return step.kind == XStep::difference; });
}

/// What was done to the columns last, other than shifting them.
std::string scale_in_words(const FittedModel& model) {
  if (has_differences(model)) return "columns in their own units";
  for (auto step = model.pretreatment.x.rbegin(); step != model.pretreatment.x.rend(); ++step) {
    if (step->kind == XStep::standardize) return "standardised columns";
    if (step->kind == XStep::minmax) return "columns scaled to [0, 1]";
  }
  return "columns in their own units";
}

}  // namespace

RankedCoefficients ranked_coefficients(const FittedModel& model) {
  const Coefficients own = model.coefficients();
  RankedCoefficients ranked;
  ranked.intercept = own.intercept;
  ranked.scale = scale_in_words(model);
  ranked.outputs.emplace_back();
  if (!model.target_names.empty()) {
    ranked.outputs = model.target_names;
  } else if (own.weights.cols() > 1) {
    ranked.outputs.clear();
    for (Index k = 0; k < model.labels->classes(); ++k) ranked.outputs.push_back(model.labels->name(k));
  }
  const bool is_trained_by_column = !has_differences(model);
  for (Index j = 0; j < own.weights.rows(); ++j) {
    RankedCoefficients::Row row{.name = own.names[static_cast<std::size_t>(j)],
                                .weight = own.weights.row(j).transpose(),
                                .trained = {},
                                .size = own.weights.row(j).cwiseAbs().maxCoeff()};
    if (is_trained_by_column) {
      row.trained = model.weights.row(j).transpose();
      row.size = row.trained.cwiseAbs().maxCoeff();
    }
    if (row.weight.isZero(0.0))
      ranked.zeros.push_back(std::move(row.name));
    else
      ranked.rows.push_back(std::move(row));
  }
  std::stable_sort(ranked.rows.begin(), ranked.rows.end(),
                   [](const auto& a, const auto& b) { return a.size > b.size; });
  return ranked;
}

std::string coefficients_csv(const FittedModel& model) {
  const RankedCoefficients ranked = ranked_coefficients(model);
  const bool has_trained = ranked.rows.empty() || ranked.rows[0].trained.size() > 0;
  std::string text = "name";
  for (const char* column : {"weight", "trained"}) {
    if (column == std::string_view("trained") && !has_trained) continue;
    for (const std::string& output : ranked.outputs)
      text += fmt::format(",{}", csv_field(output.empty() ? column : fmt::format("{}_{}", column, output)));
  }
  text += "\n(intercept)";
  for (const double value : ranked.intercept) text += fmt::format(",{:.17g}", value);
  if (has_trained) text.append(ranked.outputs.size(), ',');
  text += "\n";
  for (const auto& row : ranked.rows) {
    text += csv_field(row.name);
    for (const double value : row.weight) text += fmt::format(",{:.17g}", value);
    for (const double value : row.trained) text += fmt::format(",{:.17g}", value);
    text += "\n";
  }
  for (const std::string& name : ranked.zeros) {
    text += csv_field(name);
    for (std::size_t k = 0; k < ranked.outputs.size() * (has_trained ? 2 : 1); ++k) text += ",0";
    text += "\n";
  }
  return text;
}

}  // namespace yosida
