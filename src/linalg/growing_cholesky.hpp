#pragma once

#include <vector>

#include "yosida/linalg/types.hpp"

namespace yosida {

/// The factor L of G = L Lᵀ for a positive definite G that gains and loses one row and column at a time, with
/// the solutions of L Z = B for a few right-hand sides, which gain and lose a row with it.
class GrowingCholesky {
 public:
  explicit GrowingCholesky(Index right_sides) : z_(right_sides, 0) {}

  Index size() const { return size_; }
  void clear() { size_ = 0; }
  /// G gains a last row: its products with those there are and its own square; `right` are its right-hand
  /// sides. Returns false and changes nothing where the row depends on the others: where they leave no more
  /// than `least` of its square.
  bool append(const Vector& products, double square, double least, const Vector& right);
  /// G loses a row and column.
  void remove(Index place);
  /// x = G⁻¹ B weights: the right-hand sides' solution, combined.
  void solve(const Vector& weights, Vector& x) const;
  /// G⁻¹ b
  Vector solved(Vector b) const;

 private:
  void reserve(Index size);

  Index size_ = 0;
  Matrix l_;  // the first size_ rows and columns of it
  Matrix z_;  // L⁻¹ B, a row for each right-hand side
};

/// out = Σ weight_i × row rows[i] of a matrix kept in its first rows.
void add_up_rows(const Matrix& matrix, Index rows, const Vector& weight, Vector& out);

}  // namespace yosida
