#pragma once

#include <optional>
#include <utility>

#include "yosida/linalg/types.hpp"

namespace yosida {

/// A symmetric matrix as Q T Qᵀ, T tridiagonal and Q orthogonal. It costs half of eigenvectors, and (T + c)⁻¹
/// is as cheap as a diagonal one for any number c. Q is kept as its reflections, which are half a matrix.
class Tridiagonal {
 public:
  /// Reduces the matrix whose lower triangle is given, and uses it up.
  explicit Tridiagonal(Matrix lower);

  Index size() const { return diagonal_.size(); }
  const Vector& diagonal() const { return diagonal_; }
  const Vector& off_diagonal() const { return off_diagonal_; }
  /// Q A and Qᵀ A, for vectors as the columns of A.
  Eigen::MatrixXd rotated(Eigen::MatrixXd a) const { return times(std::move(a), false); }
  Eigen::MatrixXd rotated_back(Eigen::MatrixXd a) const { return times(std::move(a), true); }
  /// All of the matrix, rising.
  Vector eigenvalues() const;

 private:
  /// Where the numbers of reflection j begin.
  static Index first_of(Index j) { return j * (j - 1) / 2; }
  Eigen::Map<const Vector> reflection(Index j) const { return {reflections_.data() + first_of(j), j}; }
  Eigen::MatrixXd times(Eigen::MatrixXd a, bool transposed) const;

  // Q = H_{n−2} … H_0, H_j = I − scale_j v vᵀ, where v is j numbers, a 1 and zeros.
  Matrix reflections_;  // one behind the other, at the beginning of the memory of the matrix that was given
  Vector scales_;
  Vector diagonal_, off_diagonal_;
};

/// Coordinates in which H is tridiagonal, of the space that holds (H + c)⁻¹ b for every c ≥ 0 to rounding. b
/// is its norm times the first of them.
struct KrylovSpace {
  Matrix basis;  // columns
  Vector diagonal, off_diagonal;
};
/// The space for a diagonal H > 0, by Lanczos. Empty where it has more than `most` dimensions.
std::optional<KrylovSpace> krylov_space(const Vector& h, const Vector& b, Index most);

/// (T + c) x = b in place of b for a tridiagonal T whose diagonals are given (the second one may be empty: T
/// is diagonal then). For T + c positive definite; a pivot that rounding has made no larger than 0 gives 0.
void solve_tridiagonal(const Vector& diagonal, const Vector& off_diagonal, double c, Eigen::Ref<Vector> b);

}  // namespace yosida
