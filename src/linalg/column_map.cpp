#include "linalg/rows.hpp"

namespace yosida::linalg {

bool ColumnMap::is_diagonal() const {
  return is_identity() || std::none_of(steps_->begin(), steps_->end(),
                                       [](const ColumnStep& step) { return step.differences; });
}

void ColumnMap::apply(double* row, Index stored) const {
  if (is_identity()) return;
  Index width = stored;
  for (const ColumnStep& step : *steps_) {
    if (step.differences) {
      --width;
      for (Index j = 0; j < width; ++j) row[j] = row[j + 1] - row[j];
    }
    if (step.shift.size() > 0)
      for (Index j = 0; j < width; ++j) row[j] -= step.shift[j];
    if (step.scale.size() > 0)
      for (Index j = 0; j < width; ++j) row[j] /= step.scale[j];
  }
}

double ColumnMap::apply(Index column, double value) const {
  if (is_identity()) return value;
  for (const ColumnStep& step : *steps_) {
    if (step.shift.size() > 0) value -= step.shift[column];
    if (step.scale.size() > 0) value /= step.scale[column];
  }
  return value;
}

std::vector<ColumnStep> ColumnMap::of(std::span<const Index> columns) const {
  std::vector<ColumnStep> chosen;
  if (is_identity()) return chosen;
  for (const ColumnStep& step : *steps_) {
    ColumnStep& own = chosen.emplace_back();
    if (step.shift.size() > 0) own.shift = step.shift(columns);
    if (step.scale.size() > 0) own.scale = step.scale(columns);
  }
  return chosen;
}

double ColumnMap::scaled(Index column, double value) const {
  if (is_identity()) return value;
  for (const ColumnStep& step : *steps_)
    if (step.scale.size() > 0) value /= step.scale[column];
  return value;
}

void ColumnMap::pull(std::span<const double> w, Index outputs, std::vector<double>& weights,
                     double* offset) const {
  weights.assign(w.begin(), w.end());
  for (auto last = steps_->rbegin(); last != steps_->rend(); ++last) {
    const ColumnStep& step = *last;
    if (step.scale.size() > 0)
      for (Index j = 0; j < step.scale.size(); ++j)
        for (Index o = 0; o < outputs; ++o)
          weights[static_cast<std::size_t>(j * outputs + o)] /= step.scale[j];
    if (step.shift.size() > 0)
      for (Index j = 0; j < step.shift.size(); ++j)
        for (Index o = 0; o < outputs; ++o)
          offset[o] -= weights[static_cast<std::size_t>(j * outputs + o)] * step.shift[j];
    if (step.differences) {
      // Σ_j w_j (x_{j+1} − x_j): the difference before a column adds it, its own difference subtracts it.
      const auto k = static_cast<std::size_t>(outputs);
      weights.resize(weights.size() + k, 0.0);
      for (std::size_t i = weights.size(); i-- > k;) weights[i] = weights[i - k] - weights[i];
      for (std::size_t o = 0; o < k; ++o) weights[o] = -weights[o];
    }
  }
}

Index ColumnMap::push(double* sums, Index stored, const double* row_sums, Index outputs) const {
  Index width = stored;
  for (const ColumnStep& step : *steps_) {
    if (step.differences) {
      --width;
      for (Index i = 0; i < width * outputs; ++i) sums[i] = sums[i + outputs] - sums[i];
    }
    if (step.shift.size() > 0)
      for (Index j = 0; j < width; ++j)
        for (Index o = 0; o < outputs; ++o) sums[j * outputs + o] -= step.shift[j] * row_sums[o];
    if (step.scale.size() > 0)
      for (Index j = 0; j < width; ++j)
        for (Index o = 0; o < outputs; ++o) sums[j * outputs + o] /= step.scale[j];
  }
  return width;
}

}  // namespace yosida::linalg
