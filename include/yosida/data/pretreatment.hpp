#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "yosida/data/dataset.hpp"
#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// What is done to features before training. Every statistic is one of the training rows only.
enum class XStep {
  raw,          ///< nothing
  center,       ///< x − mean
  standardize,  ///< (x − mean) / population standard deviation; a sparse design is scaled without centring
  minmax,       ///< (x − min) / (max − min)
  difference,   ///< x_{j+1} − x_j: first differences along the row, one column fewer
};
enum class YStep {
  raw,
  center,       ///< y − mean
  standardize,  ///< (y − mean) / population standard deviation
};
std::string_view to_string(XStep step);
std::string_view to_string(YStep step);
/// "standardize", or a chain: "difference,minmax". Throws InputError with the names there are.
std::vector<XStep> parse_x_steps(std::string_view text);
YStep parse_y_step(std::string_view text);

/// One fitted step on the features: (x − shift) / scale, or first differences. A constant column
/// is divided by 1.
struct FittedStep {
  XStep kind = XStep::raw;
  Vector shift;  // empty: no shift
  Vector scale;  // empty: no division
};

/// Fitted on the training rows, carried into the saved model.
struct Pretreatment {
  Vector missing_fill;  ///< what stands for a missing value, per column read; empty where none is allowed
  std::vector<FittedStep> x;
  double y_shift = 0.0;
  double y_scale = 1.0;

  /// Transforms features, and targets where there are some, in place. Throws InputError where the data is not
  /// what this was fitted to: another number of features, or sparse where it was dense.
  void apply(Dataset& data) const;
};

/// Fits every step on `train` and transforms it in place; with `fill_missing`, NaN stands for a
/// missing value and the mean of its column takes its place. Statistics neither overflow nor underflow,
/// whatever the magnitudes of a column are. Throws InputError where a step needs a dense design and `train`
/// is sparse, where `train` is empty or not whole, and by its name for a column whose values differ by more
/// than the largest number.
Pretreatment fit_pretreatment(Dataset& train, const std::vector<XStep>& x_steps, YStep y_step,
                              bool fill_missing = false);

}  // namespace yosida
