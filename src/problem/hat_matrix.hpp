#pragma once

#include "yosida/linalg/types.hpp"

namespace yosida {

/// How the margins of all rows answer each row: with H = X̃ᵀDX̃ + diag c, X̃ the rows with a last column of
/// ones for the intercept, T = H⁻¹X̃ᵀ and G = X̃T. In feature space by a Cholesky factor of H or, where rows
/// are fewer and every weight is penalised, in row space by one of I + D^½KD^½, K = X diag(c)⁻¹Xᵀ.
class HatMatrix {
 public:
  /// `d`: one number ≥ 0 for each row; `c`: one for each column and, last, that of the intercept (0).
  HatMatrix(const Matrix& x, bool intercept, const Vector& d, const Vector& c);

  /// False where H is singular to working precision: nothing else may be asked for then.
  bool is_whole() const { return whole_; }
  /// G_ii
  const Vector& diagonal() const { return diagonal_; }
  /// 1 − d_i G_ii without cancellation where row space gives it.
  const Vector& remainder() const { return remainder_; }
  /// Σ_i v_i T_ji² of each weight j, and Σ_i v_i G_ki² of each row k. The v may be negative.
  struct Spread {
    Vector of_weights, of_rows;
  };
  Spread spread(const Vector& v) const;
  /// G_ki², a row and a column for each row.
  Matrix squares() const;
  /// T, a row for each weight (that of the intercept last) and a column for each row.
  Matrix response() const;

 private:
  void factor_features(const Matrix& x, const Vector& d, const Vector& c);
  void factor_rows(const Matrix& x, const Vector& d, const Vector& c);

  bool intercept_;
  bool whole_ = true;
  Vector diagonal_, remainder_;
  Matrix l_, z_;  // feature space: H = LLᵀ, Z = L⁻¹X̃ᵀ
  Matrix g_, t_;  // row space: G and T
};

}  // namespace yosida
