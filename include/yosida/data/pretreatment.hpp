#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "yosida/data/dataset.hpp"
#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// What is done to features before training. Every statistic is one of the training rows only, in which a row
/// of weight 2 counts as two rows.
enum class XStep {
  raw,          ///< nothing
  center,       ///< x − mean
  standardize,  ///< (x − mean) / population standard deviation; a sparse design that was read as such
                ///< is scaled without centring: "center,standardize" does both
  minmax,       ///< (x − min) / (max − min)
  difference,   ///< x_{j+1} − x_j: first differences along the row, one column fewer
};
/// What is done to the target.
enum class YStep {
  raw,
  center,       ///< y − mean
  standardize,  ///< (y − mean) / population standard deviation
};
std::string_view to_string(XStep step);
std::string_view to_string(YStep step);
/// "standardize", or a chain: "difference,minmax". Throws InputError with the names there are.
std::vector<XStep> parse_x_steps(std::string_view text);
/// The step of this name. Throws InputError with the names there are.
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
  /// Where the products of a view would lose digits (a column's mean is a thousand times what it varies by,
  /// or more), apply() makes copies. Not a part of the saved model: it predicts from copies in any case.
  bool needs_copy = false;

  /// The same rows, pretreated: a view, whose products carry the steps, unless needs_copy or values are
  /// missing. The numbers of `data` are only read. Throws InputError where the data is not what this was
  /// fitted to: another number of features.
  [[nodiscard]] Dataset apply(Dataset data) const;
};

/// Fits every step on `train`, which is only read; with `fill_missing`, NaN stands for a
/// missing value and the mean of its column takes its place. Statistics neither overflow nor underflow,
/// whatever the magnitudes of a column are. Throws InputError where differences are asked of a sparse design,
/// where `train` is empty or not whole, and by its name for a column whose values differ by more
/// than the largest number.
[[nodiscard]] Pretreatment fit_pretreatment(const Dataset& train, const std::vector<XStep>& x_steps,
                                            YStep y_step, bool fill_missing = false);

}  // namespace yosida
