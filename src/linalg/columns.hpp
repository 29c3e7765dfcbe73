#pragma once

#include <memory>
#include <vector>

#include "yosida/linalg/design.hpp"

namespace yosida {

// Statistics of the columns of a design, every step applied; zeros that are not stored count. Where rows have
// weights, a row of weight 2 counts as two rows; without any, each counts once.

/// The least and the largest number of each column; NaN is passed over. Where a column has no number, they
/// are +∞ and −∞.
struct ColumnRange {
  Vector low, high;

  /// What to multiply each column by before its numbers are summed and squared: powers of 2.
  Vector unit_scales() const;
};
ColumnRange column_range(const Design& x);
/// What one pass over dense rows tells.
struct FirstLook {
  ColumnRange range;
  Vector sum;  ///< of each column; not finite where a number is not, or where they add up to more than one

  /// True where all numbers are finite for sure.
  bool is_finite() const;
};
/// For dense rows. Where these are all that is stored, without a step, the pass is made once and its result
/// is kept.
std::shared_ptr<const FirstLook> look_at(const Design& x);
/// The largest |number| of each column; NaN where there is one.
Vector largest_magnitudes(const Design& x);
/// Means of the columns from one pass, or from a look that was made before; rounding grows with the rows.
Vector rough_means(const Design& x);
/// Takes the columns times `scale`.
Vector column_means(const Design& x, const Vector& scale, const Vector& weight = {});
/// Population standard deviations of the columns times `scale`, `mean` being the means of these.
Vector column_deviations(const Design& x, const Vector& scale, const Vector& mean, const Vector& weight = {});
/// All of these in two passes over the rows.
struct ColumnStatistics {
  ColumnRange range;
  Vector scale;            ///< unit_scales() of the range
  Vector mean, deviation;  ///< of the columns times scale
};
ColumnStatistics column_statistics(const Design& x, const Vector& weight = {});

// NaN stands for a missing value. A zero that is not stored is a value.

/// Means over the values that are there; NaN for a column without any.
Vector means_of_present(const Design& x, const Vector& weight = {});
/// The rows without a missing value, rising.
std::vector<Index> complete_rows(const Design& x);

}  // namespace yosida
