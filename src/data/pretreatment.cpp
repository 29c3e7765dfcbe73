#include "yosida/data/pretreatment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "linalg/unit_scale.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr std::array<std::string_view, 5> kXNames = {"raw", "center", "standardize", "minmax", "difference"};
constexpr std::array<std::string_view, 3> kYNames = {"raw", "center", "standardize"};

template <typename Enum, std::size_t N>
Enum parse_name(std::string_view text, const std::array<std::string_view, N>& names, const char* flag) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  throw InputError(fmt::format("{} = {}: must be one of {}", flag, text, fmt::join(names, ", ")));
}

/// The least and the largest value of each column.
struct Range {
  Vector low, high;

  Range(Index columns)
      : low(Vector::Constant(columns, std::numeric_limits<double>::infinity())), high(-low) {}
  void add(Index column, double value) {
    low[column] = std::min(low[column], value);
    high[column] = std::max(high[column], value);
  }
  /// What to multiply each column by before its numbers are summed and squared.
  Vector unit_scales() const {
    return low.cwiseAbs().cwiseMax(high.cwiseAbs()).unaryExpr([](double v) { return unit_scale(v); });
  }
};

Range range_of(const DenseDesign& x) {
  Range range(x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    range.low = range.low.cwiseMin(x.matrix().row(i).transpose());
    range.high = range.high.cwiseMax(x.matrix().row(i).transpose());
  }
  return range;
}

/// Of the columns times `scale`. Two passes: the second takes out the rounding of the first, which grows with
/// the rows.
Vector dense_means(const DenseDesign& x, const Vector& scale) {
  const double n = static_cast<double>(x.rows());
  Vector mean = Vector::Zero(x.cols());
  for (Index i = 0; i < x.rows(); ++i) mean += x.matrix().row(i).transpose().cwiseProduct(scale);
  mean /= n;
  Vector rest = Vector::Zero(x.cols());
  for (Index i = 0; i < x.rows(); ++i) rest += x.matrix().row(i).transpose().cwiseProduct(scale) - mean;
  return mean + rest / n;
}

/// Population standard deviations of the columns times `scale`.
Vector dense_deviations(const DenseDesign& x, const Vector& scale, const Vector& mean) {
  Vector square = Vector::Zero(x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    square += (x.matrix().row(i).transpose().cwiseProduct(scale) - mean).cwiseAbs2();
  return (square / static_cast<double>(x.rows())).cwiseSqrt();
}

/// Population standard deviations, 1 for a constant column.
Vector sparse_deviations(const SparseDesign& x) {
  const auto n = static_cast<double>(x.rows());
  Vector count = Vector::Zero(x.cols());
  Range range(x.cols());
  for (std::size_t k = 0; k < x.value.size(); ++k) {
    count[x.column[k]] += 1.0;
    range.add(x.column[k], x.value[k]);
  }
  const Vector scale = range.unit_scales();
  Vector mean = Vector::Zero(x.cols());
  for (std::size_t k = 0; k < x.value.size(); ++k) mean[x.column[k]] += scale[x.column[k]] * x.value[k] / n;
  // The zeros that are not stored deviate by the mean.
  Vector square = (n - count.array()) * mean.array().square();
  for (std::size_t k = 0; k < x.value.size(); ++k) {
    const double deviation = scale[x.column[k]] * x.value[k] - mean[x.column[k]];
    square[x.column[k]] += deviation * deviation;
  }
  Vector deviation = (square / n).cwiseSqrt().cwiseQuotient(scale);
  for (Index j = 0; j < x.cols(); ++j) {
    const bool has_zeros = count[j] < n;
    const double low = has_zeros ? std::min(range.low[j], 0.0) : range.low[j];
    const double high = has_zeros ? std::max(range.high[j], 0.0) : range.high[j];
    if (low == high || count[j] == 0.0) deviation[j] = 1.0;
  }
  return deviation;
}

/// Names the first column whose statistics no number holds: it varies by too much, or by too little.
void require_held(const FittedStep& step, const Dataset& train) {
  const auto refuse = [&](Index column, const char* rule) {
    throw InputError(fmt::format("{}: x = {}: {} {}", train.source, to_string(step.kind),
                                 feature_in_words(train, column), rule));
  };
  for (const Vector* statistic : {&step.shift, &step.scale})
    for (Index j = 0; j < statistic->size(); ++j)
      if (!std::isfinite((*statistic)[j]))
        refuse(j,
               "holds numbers that are not finite, or whose differences overflow: magnitudes must stay below "
               "8e307");
  for (Index j = 0; j < step.scale.size(); ++j)
    if (step.scale[j] < std::numeric_limits<double>::min())
      refuse(j, "varies by less than 2.3e-308, the least number that has all its digits: rescale it");
}

FittedStep fit_step(const Dataset& train, XStep kind) {
  FittedStep step{.kind = kind, .shift = {}, .scale = {}};
  if (kind == XStep::raw) return step;
  if (train.x.is_sparse()) {
    if (kind != XStep::standardize)
      throw InputError(fmt::format(
          "x = {}: would make the sparse design of {} dense; say --dense to allow it, or use --x standardize "
          "(scales without centring) or --x raw",
          to_string(kind), train.source));
    step.scale = sparse_deviations(train.x.sparse());
    require_held(step, train);
    return step;
  }
  const DenseDesign& x = train.x.dense();
  if (kind == XStep::difference) {
    if (x.cols() < 2)
      throw InputError(fmt::format("x = difference: {} has {} column; first differences need at least 2",
                                   train.source, x.cols()));
    return step;
  }
  const Range range = range_of(x);
  if (kind == XStep::minmax) {
    step.shift = range.low;
    step.scale = range.high - range.low;
  } else {
    const Vector scale = range.unit_scales();
    const Vector mean = dense_means(x, scale);
    step.shift = mean.cwiseQuotient(scale);
    if (kind == XStep::standardize) step.scale = dense_deviations(x, scale, mean).cwiseQuotient(scale);
  }
  for (Index j = 0; j < step.scale.size(); ++j)
    if (range.low[j] == range.high[j]) step.scale[j] = 1.0;
  require_held(step, train);
  return step;
}

void difference_rows(DenseDesign& x) {
  const Index d = x.cols();
  double* out = x.row(0);
  for (Index i = 0; i < x.rows(); ++i) {
    const double* row = x.row(i);
    for (Index j = 0; j + 1 < d; ++j) *out++ = row[j + 1] - row[j];  // never overtakes what it reads
  }
  x = x.narrowed(d - 1);
}

void apply_step(const FittedStep& step, Dataset& data) {
  if (step.kind == XStep::raw) return;
  const bool scales_only = step.shift.size() == 0 && step.scale.size() > 0;
  if (data.x.is_sparse() && !scales_only)
    throw InputError(fmt::format("{}: x = {} was fitted to a dense design: this one is sparse", data.source,
                                 to_string(step.kind)));
  for (const Vector* statistic : {&step.shift, &step.scale})
    if (statistic->size() > 0 && statistic->size() != data.features())
      throw InputError(fmt::format("{}: {} features, x = {} was fitted to {}: they must be the same",
                                   data.source, data.features(), to_string(step.kind), statistic->size()));
  if (data.x.is_sparse()) {
    SparseDesign& x = data.x.sparse();
    for (std::size_t k = 0; k < x.value.size(); ++k) x.value[k] /= step.scale[x.column[k]];
    return;
  }
  DenseDesign& x = data.x.dense();
  if (step.kind == XStep::difference) {
    difference_rows(x);
    if (!data.feature_names.empty()) {
      for (std::size_t j = 0; j + 1 < data.feature_names.size(); ++j)
        data.feature_names[j] = data.feature_names[j + 1] + " - " + data.feature_names[j];
      data.feature_names.pop_back();
    }
    return;
  }
  for (Index i = 0; i < x.rows(); ++i) {
    auto row = x.matrix().row(i);
    if (step.shift.size() > 0) row -= step.shift.transpose();
    if (step.scale.size() > 0) row.array() /= step.scale.transpose().array();
  }
}

/// Means over the values that are there; empty for a sparse design, where nothing is missing.
Vector column_means_of_present(const Dataset& train) {
  if (train.x.is_sparse()) return {};
  const DenseDesign& x = train.x.dense();
  Range range(x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (const double value = x.row(i)[j]; !std::isnan(value)) range.add(j, value);
  const Vector scale = range.unit_scales();
  Vector sum = Vector::Zero(x.cols());
  Vector count = Vector::Zero(x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (const double value = x.row(i)[j]; !std::isnan(value)) {
        sum[j] += scale[j] * value;
        count[j] += 1.0;
      }
  for (Index j = 0; j < x.cols(); ++j)
    if (count[j] == 0.0)
      throw InputError(
          fmt::format("{}: {} has no value in the training rows; its mean cannot fill what is missing",
                      train.source, feature_in_words(train, j)));
  return sum.array() / count.array() / scale.array();
}

void fill(Dataset& data, const Vector& means) {
  if (means.size() == 0 || data.x.is_sparse()) return;
  if (means.size() != data.features())
    throw InputError(
        fmt::format("{}: {} features, the means of missing values are of {}: they must be the same",
                    data.source, data.features(), means.size()));
  DenseDesign& x = data.x.dense();
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (std::isnan(x.row(i)[j])) x.row(i)[j] = means[j];
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

void Pretreatment::apply(Dataset& data) const {
  require_whole(data);
  fill(data, missing_fill);
  for (const FittedStep& step : x) apply_step(step, data);
  data.y = (data.y.array() - y_shift) / y_scale;
}

Pretreatment fit_pretreatment(Dataset& train, const std::vector<XStep>& x_steps, YStep y_step,
                              bool fill_missing) {
  require_whole(train);
  if (train.rows() == 0 || train.features() == 0 || (y_step != YStep::raw && train.y.size() == 0))
    throw InputError(
        fmt::format("{}: {} rows of {} features and {} targets: pretreatment is fitted to at least 1 of each",
                    train.source, train.rows(), train.features(), train.y.size()));
  Pretreatment fitted;
  if (fill_missing) fitted.missing_fill = column_means_of_present(train);
  fill(train, fitted.missing_fill);
  for (const XStep kind : x_steps) {
    fitted.x.push_back(fit_step(train, kind));
    apply_step(fitted.x.back(), train);
  }
  if (y_step != YStep::raw) {
    const double scale = unit_scale(train.y.cwiseAbs().maxCoeff());
    fitted.y_shift = (scale * train.y).mean() / scale;
    train.y.array() -= fitted.y_shift;
    if (y_step == YStep::standardize)
      fitted.y_scale = std::sqrt((scale * train.y).squaredNorm() / static_cast<double>(train.rows())) / scale;
    if (fitted.y_scale == 0.0) fitted.y_scale = 1.0;  // a constant
    if (!std::isfinite(fitted.y_scale) || !std::isfinite(fitted.y_shift))
      throw InputError(
          fmt::format("{}: y = {}: the target{} holds numbers that are not finite, or whose differences "
                      "overflow: magnitudes "
                      "must stay below 8e307",
                      train.source, to_string(y_step),
                      train.target_name.empty() ? "" : " \"" + train.target_name + "\""));
  }
  train.y /= fitted.y_scale;
  return fitted;
}

}  // namespace yosida
