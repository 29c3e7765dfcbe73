#include "yosida/data/pretreatment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

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

/// Two passes: the second takes out the rounding of the first, which grows with the rows.
Vector dense_means(const DenseDesign& x) {
  const double n = static_cast<double>(x.rows());
  Vector mean = Vector::Zero(x.cols());
  for (Index i = 0; i < x.rows(); ++i) mean += x.matrix().row(i).transpose();
  mean /= n;
  Vector rest = Vector::Zero(x.cols());
  for (Index i = 0; i < x.rows(); ++i) rest += x.matrix().row(i).transpose() - mean;
  return mean + rest / n;
}

/// Population standard deviations, 1 for a constant column.
Vector dense_deviations(const DenseDesign& x, const Vector& mean) {
  Vector square = Vector::Zero(x.cols());
  for (Index i = 0; i < x.rows(); ++i) square += (x.matrix().row(i).transpose() - mean).cwiseAbs2();
  Vector deviation = (square / static_cast<double>(x.rows())).cwiseSqrt();
  const Eigen::RowVectorXd low = x.matrix().colwise().minCoeff();
  const Eigen::RowVectorXd high = x.matrix().colwise().maxCoeff();
  for (Index j = 0; j < x.cols(); ++j)
    if (low[j] == high[j] || deviation[j] == 0.0) deviation[j] = 1.0;
  return deviation;
}

Vector sparse_deviations(const SparseDesign& x) {
  const auto n = static_cast<double>(x.rows());
  Vector mean = Vector::Zero(x.cols());
  Vector count = Vector::Zero(x.cols());
  Vector low = Vector::Constant(x.cols(), std::numeric_limits<double>::infinity());
  Vector high = -low;
  for (std::size_t k = 0; k < x.value.size(); ++k) {
    const Index j = x.column[k];
    mean[j] += x.value[k] / n;
    count[j] += 1.0;
    low[j] = std::min(low[j], x.value[k]);
    high[j] = std::max(high[j], x.value[k]);
  }
  // The zeros that are not stored deviate by the mean.
  Vector square = (n - count.array()) * mean.array().square();
  for (std::size_t k = 0; k < x.value.size(); ++k) {
    const double deviation = x.value[k] - mean[x.column[k]];
    square[x.column[k]] += deviation * deviation;
  }
  Vector deviation = (square / n).cwiseSqrt();
  for (Index j = 0; j < x.cols(); ++j) {
    const bool is_constant = count[j] == 0.0 || (count[j] == n && low[j] == high[j]);
    if (is_constant || deviation[j] == 0.0) deviation[j] = 1.0;
  }
  return deviation;
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
    return step;
  }
  const DenseDesign& x = train.x.dense();
  if (kind == XStep::difference) {
    if (x.cols() < 2)
      throw InputError(fmt::format("x = difference: {} has {} column; first differences need at least 2",
                                   train.source, x.cols()));
  } else if (kind == XStep::minmax) {
    step.shift = x.matrix().colwise().minCoeff();
    step.scale = x.matrix().colwise().maxCoeff().transpose() - step.shift;
    for (double& scale : step.scale)
      if (scale == 0.0) scale = 1.0;
  } else {
    step.shift = dense_means(x);
    if (kind == XStep::standardize) step.scale = dense_deviations(x, step.shift);
  }
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
  Vector sum = Vector::Zero(x.cols());
  Vector count = Vector::Zero(x.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (const double value = x.row(i)[j]; !std::isnan(value)) {
        sum[j] += value;
        count[j] += 1.0;
      }
  for (Index j = 0; j < x.cols(); ++j)
    if (count[j] == 0.0)
      throw InputError(
          fmt::format("{}: column {} has no value in the training rows; its mean cannot fill what is missing",
                      train.source,
                      train.feature_names.empty() ? std::to_string(j)
                                                  : train.feature_names[static_cast<std::size_t>(j)]));
  return sum.array() / count.array();
}

void fill(Dataset& data, const Vector& means) {
  if (means.size() == 0 || data.x.is_sparse()) return;
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
  fill(data, missing_fill);
  for (const FittedStep& step : x) apply_step(step, data);
  data.y = (data.y.array() - y_shift) / y_scale;
}

Pretreatment fit_pretreatment(Dataset& train, const std::vector<XStep>& x_steps, YStep y_step,
                              bool fill_missing) {
  Pretreatment fitted;
  if (fill_missing) fitted.missing_fill = column_means_of_present(train);
  fill(train, fitted.missing_fill);
  for (const XStep kind : x_steps) {
    fitted.x.push_back(fit_step(train, kind));
    apply_step(fitted.x.back(), train);
  }
  if (y_step != YStep::raw) fitted.y_shift = train.y.mean();
  train.y.array() -= fitted.y_shift;
  if (y_step == YStep::standardize)
    fitted.y_scale = std::sqrt(train.y.squaredNorm() / static_cast<double>(train.rows()));
  if (!std::isfinite(fitted.y_scale) || !std::isfinite(fitted.y_shift))
    throw InputError(fmt::format("{}: the targets are too large to be standardised: their squares overflow",
                                 train.source));
  train.y /= fitted.y_scale;
  return fitted;
}

}  // namespace yosida
