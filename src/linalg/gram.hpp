#pragma once

#include "yosida/linalg/design.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// Σ_i weight_i x_i x_iᵀ, both triangles filled; of some rows only where `stop` says so on the way. No
/// weights are weights of 1.
Matrix weighted_gram(const Design& x, std::span<const double> weight, const StopToken* stop = nullptr);
/// Its rows and columns in `set` (rising). A last one of x.cols() stands for a column of ones.
Matrix weighted_gram(const Design& x, std::span<const double> weight, std::span<const Index> set);
/// gram_ik += scale_i scale_k Σ_j∈set x_ij x_kj / c_j, its lower triangle: the products of rows.
void add_row_gram(const Design& x, const Vector& scale, std::span<const Index> set, const Vector& c,
                  Matrix& gram);
/// The products of each row of a design with each of its own rows, and of each row of another with them:
/// X Xᵀ and Y Xᵀ.
struct RowProducts {
  Matrix own, others;
};
RowProducts row_products(const Design& x, const Design& others);
/// X B
Matrix multiplied(const Design& x, const Matrix& b);

}  // namespace yosida
