#pragma once

#include "yosida/linalg/design.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// Σ_i weight_i x_i x_iᵀ, both triangles filled. Where `stop` says so on the way, it is the sum of some rows
/// only. An empty `weight` stands for weights of 1.
Matrix weighted_gram(const Design& x, std::span<const double> weight, const StopToken* stop = nullptr);
/// Σ_i x_i x_iᵀ, Σ_i x_i and Σ_i y_i x_i from one pass over dense rows.
struct RowSums {
  Matrix gram;
  Vector rows, with_y;

  /// The sums of rows less their mean, given how many there are and Σ_i y_i. Returns the mean.
  Vector centre(double n, double y);
};
RowSums row_sums(const Design& x, const Vector& y, const StopToken* stop = nullptr);
/// The same as weighted_gram with sums in single precision, at half the price: good to some 1e-6 of the
/// largest, where columns are of one scale. Not finite where numbers are beyond it.
Matrix rough_weighted_gram(const Design& x, std::span<const double> weight, const StopToken* stop = nullptr);
/// Its rows and columns in `set` (rising). A last one of x.cols() stands for a column of ones.
Matrix weighted_gram(const Design& x, std::span<const double> weight, std::span<const Index> set);
/// gram_ik += scale_i scale_k Σ_j∈set x_ij x_kj / c_j, its lower triangle: the products of rows.
void add_row_gram(const Design& x, const Vector& scale, std::span<const Index> set, const Vector& c,
                  Matrix& gram);
/// Xᵀ B, the columns of X in blocks, by several threads where they are many. The result does not depend on
/// their number.
Matrix multiplied_transposed(const Design& x, const Matrix& b);
/// The products of the rows of a design with each other, X Xᵀ, and of those of another with them, Y Xᵀ.
Matrix row_products(const Design& x);
Matrix row_products(const Design& y, const Design& x);
/// X B
Matrix multiplied(const Design& x, const Matrix& b);
/// Whether the next may be asked for: of dense rows that no other process has a share of.
bool may_leave_out_columns(const Design& x);
/// The same of these columns of X alone.
Matrix multiplied(const Design& x, std::span<const Index> columns, const Matrix& b);

}  // namespace yosida
