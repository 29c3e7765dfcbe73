#include "yosida/data/pretreatment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "data/missing_values.hpp"
#include "linalg/columns.hpp"
#include "linalg/row_numbers.hpp"
#include "linalg/unit_scale.hpp"
#include "yosida/error.hpp"
#include "yosida/nearest.hpp"

namespace yosida {
namespace {

constexpr std::array<std::string_view, 5> kXNames = {"raw", "center", "standardize", "minmax", "difference"};
constexpr std::array<std::string_view, 3> kYNames = {"raw", "center", "standardize"};

template <typename Enum, std::size_t N>
Enum parse_name(std::string_view text, const std::array<std::string_view, N>& names, const char* flag) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  refuse_unknown(flag, text, {names.begin(), names.end()},
                 fmt::format("must be one of {}", fmt::join(names, ", ")));
}

/// A view adds up numbers as they are stored and subtracts the shifts from the sum: what is left has lost as
/// many digits as the columns are larger than what they vary by. Weights come from solves that are exact to
/// some 1e-12; three digits of 16 leave them so.
constexpr double kMostLost = 1e3;

/// Names the first column whose statistics no number holds: it varies by too much, or by too little.
void require_held(const FittedStep& step, const Dataset& train) {
  const auto refuse = [&](Index column, const char* rule) {
    throw InputError(fmt::format("{}: x = {}: {} {}", train.source, to_string(step.kind),
                                 feature_in_words(train, column), rule));
  };
  for (const Vector* statistic : {&step.shift, &step.scale})
    for (Index j = 0; j < statistic->size(); ++j)
      if (!std::isfinite((*statistic)[j])) {
        require_values(train, j, train.source);
        refuse(j,
               "holds numbers that are not finite, or whose differences overflow: magnitudes must stay below "
               "8e307");
      }
  for (Index j = 0; j < step.scale.size(); ++j)
    if (step.scale[j] < std::numeric_limits<double>::min())
      refuse(j, "varies by less than 2.3e-308, the least number that has all its digits: rescale it");
}

/// Fits a step to training rows that all steps before it have changed; `range` is theirs before it.
FittedStep fit_step(const Dataset& train, XStep kind, ColumnRange& range) {
  const Design& x = train.x;
  FittedStep step{.kind = kind, .shift = {}, .scale = {}};
  if (kind == XStep::raw) return step;
  if (kind == XStep::difference) {
    if (x.omits_zeros())
      throw InputError(
          fmt::format("x = difference: neighbours in the sparse design of {} are no neighbours; say --dense "
                      "where they are",
                      train.source));
    if (x.cols() < 2)
      throw InputError(fmt::format("x = difference: {} has {} column; first differences need at least 2",
                                   train.source, x.cols()));
    return step;
  }
  if (kind == XStep::minmax) {
    range = column_range(x);
    step.shift = range.low;
    step.scale = range.high - range.low;
  } else {
    ColumnStatistics of = column_statistics(x, train.weight);
    range = std::move(of.range);
    // Where zeros are not stored, standardising leaves them zeros; not of a table, whose columns are treated
    // alike in whichever form it is kept.
    if (kind == XStep::center || !x.omits_zeros() || !train.table.columns.empty())
      step.shift = of.mean.cwiseQuotient(of.scale);
    if (kind == XStep::standardize) step.scale = of.deviation.cwiseQuotient(of.scale);
  }
  for (Index j = 0; j < step.scale.size(); ++j)
    if (range.low[j] == range.high[j]) step.scale[j] = 1.0;
  require_held(step, train);
  return step;
}

ColumnStep as_column_step(const FittedStep& step) {
  return {.shift = step.shift, .scale = step.scale, .differences = step.kind == XStep::difference};
}

/// `before` and `after` all steps. What a column varies by is its root mean square: shifts have taken out the
/// rest. A column that they leave nothing of, because it is constant, has lost everything.
bool loses_digits(const Design& before, const std::vector<FittedStep>& steps, const Design& after) {
  const auto subtracts = [](const FittedStep& step) {
    return step.shift.size() > 0 || step.kind == XStep::difference;
  };
  if (std::none_of(steps.begin(), steps.end(), subtracts)) return false;
  Vector added = largest_magnitudes(before);  // the largest number that is added up for a column
  for (const FittedStep& step : steps) {
    if (step.kind == XStep::difference)
      added = Vector(added.head(added.size() - 1) + added.tail(added.size() - 1));
    if (step.shift.size() > 0) added += step.shift.cwiseAbs();
    if (step.scale.size() > 0) added = added.cwiseQuotient(step.scale);
  }
  const Vector unit = added.unaryExpr([](double v) { return unit_scale(v); });
  const Vector left = column_deviations(after, unit, Vector::Zero(after.cols()));
  return ((added.cwiseProduct(unit)).array() > kMostLost * left.array()).any();
}

/// The same of one step that leaves every column a root mean square of 1, or of 0 where it is constant: no
/// row is read.
bool loses_digits(const FittedStep& standardize, const ColumnRange& range) {
  if (standardize.shift.size() == 0) return false;
  for (Index j = 0; j < range.low.size(); ++j) {
    const double largest = std::max(std::abs(range.low[j]), std::abs(range.high[j]));
    const double added = (largest + std::abs(standardize.shift[j])) / standardize.scale[j];
    if (added > (range.low[j] == range.high[j] ? 0.0 : kMostLost)) return true;
  }
  return false;
}

Dataset apply_step(const FittedStep& step, Dataset data) {
  for (const Vector* statistic : {&step.shift, &step.scale})
    if (statistic->size() > 0 && statistic->size() != data.features())
      throw InputError(fmt::format("{}: {} features, x = {} was fitted to {}: they must be the same",
                                   data.source, data.features(), to_string(step.kind), statistic->size()));
  data.x = data.x.mapped(as_column_step(step));
  if (step.kind == XStep::difference && !data.feature_names.empty()) {
    for (std::size_t j = 0; j + 1 < data.feature_names.size(); ++j)
      data.feature_names[j] = data.feature_names[j + 1] + " - " + data.feature_names[j];
    data.feature_names.pop_back();
  }
  return data;
}

Vector means_for_missing(const Dataset& train) {
  Vector means = means_of_present(train.x, train.weight);
  for (Index j = 0; j < means.size(); ++j)
    if (std::isnan(means[j]))
      throw InputError(
          fmt::format("{}: {} has no value in the training rows; its mean cannot fill what is missing",
                      train.source, feature_in_words(train, j)));
  return means;
}

Design filled(const Dataset& data, const Vector& means) {
  if (means.size() == 0) return data.x;
  if (means.size() != data.features())
    throw InputError(
        fmt::format("{}: {} features, the means of missing values are of {}: they must be the same",
                    data.source, data.features(), means.size()));
  return data.x.with_missing(means);
}

/// Fits what is done to y.
void fit_target(const Dataset& train, YStep y_step, Pretreatment& fitted) {
  if (y_step == YStep::raw) return;
  const double scale = unit_scale(largest_of(train.x, train.y));
  const bool is_weighted = train.weight.size() > 0;
  const double n = is_weighted ? sum_of(train.x, train.weight) : static_cast<double>(train.rows());
  const auto weighed = [&](Vector numbers) -> Vector {
    if (is_weighted) numbers.array() *= train.weight.array();
    return numbers;
  };
  fitted.y_shift = sum_of(train.x, weighed(scale * train.y)) / n / scale;
  const Vector centred = scale * (train.y.array() - fitted.y_shift);
  if (y_step == YStep::standardize)
    fitted.y_scale = std::sqrt(dot_of(train.x, weighed(centred), centred) / n) / scale;
  if (fitted.y_scale == 0.0) fitted.y_scale = 1.0;  // a constant
  if (!std::isfinite(fitted.y_scale) || !std::isfinite(fitted.y_shift))
    throw InputError(fmt::format(
        "{}: y = {}: the target{} holds numbers that are not finite, or whose differences "
        "overflow: magnitudes "
        "must stay below 8e307",
        train.source, to_string(y_step), train.target_name.empty() ? "" : " \"" + train.target_name + "\""));
}

}  // namespace

std::string_view to_string(XStep step) { return kXNames[static_cast<std::size_t>(step)]; }
std::string_view to_string(YStep step) { return kYNames[static_cast<std::size_t>(step)]; }

std::vector<XStep> parse_x_steps(std::string_view text) {
  std::vector<XStep> steps;
  while (true) {
    const std::size_t comma = text.find(',');
    steps.push_back(parse_name<XStep>(text.substr(0, comma), kXNames, "x"));
    if (comma == std::string_view::npos) return steps;
    text.remove_prefix(comma + 1);
  }
}

YStep parse_y_step(std::string_view text) { return parse_name<YStep>(text, kYNames, "y"); }

Dataset Pretreatment::apply(Dataset data) const {
  require_whole(data);
  data.x = filled(data, missing_fill);
  for (const FittedStep& step : x) data = apply_step(step, std::move(data));
  if (needs_copy) data.x = data.x.packed();
  data.y = (data.y.array() - y_shift) / y_scale;
  return data;
}

Pretreatment fit_pretreatment(const Dataset& train, const std::vector<XStep>& x_steps, YStep y_step,
                              bool fill_missing) {
  require_whole(train);
  if (train.rows() == 0 || train.features() == 0 || (y_step != YStep::raw && train.y.size() == 0))
    throw InputError(
        fmt::format("{}: {} rows of {} features and {} targets: pretreatment is fitted to at least 1 of each",
                    train.source, train.rows(), train.features(), train.y.size()));
  Pretreatment fitted;
  if (fill_missing && (!train.x.omits_zeros() || !train.table.columns.empty()))
    fitted.missing_fill = means_for_missing(train);
  Dataset treated = train;
  treated.x = filled(train, fitted.missing_fill);
  const Design before = treated.x;
  ColumnRange range;
  for (const XStep kind : x_steps) {
    fitted.x.push_back(fit_step(treated, kind, range));
    treated = apply_step(fitted.x.back(), std::move(treated));
  }
  fitted.needs_copy = x_steps.size() == 1 && x_steps[0] == XStep::standardize
                          ? loses_digits(fitted.x[0], range)
                          : loses_digits(before, fitted.x, treated.x);
  fit_target(train, y_step, fitted);
  return fitted;
}

}  // namespace yosida
