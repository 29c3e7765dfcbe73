#pragma once

#include "yosida/linalg/types.hpp"

namespace yosida {

/// A symmetric matrix as Q T Qᵀ, T tridiagonal and Q orthogonal. It costs half of eigenvectors, and (T + c)⁻¹
/// is as cheap as a diagonal one for any number c.
class Tridiagonal {
 public:
  /// Reduces the matrix whose lower triangle is given, and uses it up.
  explicit Tridiagonal(Matrix lower);

  Index size() const { return diagonal_.size(); }
  const Vector& diagonal() const { return diagonal_; }
  const Vector& off_diagonal() const { return off_diagonal_; }
  /// Q A and Qᵀ A, for vectors as the columns of A.
  Eigen::MatrixXd rotated(const Eigen::MatrixXd& a) const { return times(a, false); }
  Eigen::MatrixXd rotated_back(const Eigen::MatrixXd& a) const { return times(a, true); }
  /// All of the matrix, rising.
  Vector eigenvalues() const;

 private:
  Eigen::MatrixXd times(const Eigen::MatrixXd& a, bool transposed) const;

  Eigen::MatrixXd q_;
  Vector diagonal_, off_diagonal_;
};

/// (T + c) x = b in place of b for a tridiagonal T whose diagonals are given (the second one may be empty: T
/// is diagonal then). For T + c positive definite; a pivot that rounding has made no larger than 0 gives 0.
void solve_tridiagonal(const Vector& diagonal, const Vector& off_diagonal, double c, Eigen::Ref<Vector> b);

}  // namespace yosida
