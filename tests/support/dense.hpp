#pragma once

#include "yosida/linalg/types.hpp"

/// Dense algebra by Eigen's own decompositions, which the library does not use for this: an independent truth
/// for tests. Each decomposition is compiled once, in dense.cpp; in a test of its own it takes 5 to 15
/// seconds to compile.
namespace yosida::test {

/// H⁻¹b of a symmetric H that need not be definite.
Vector symmetric_solution(const Eigen::MatrixXd& h, const Vector& b);

/// The shortest x among those with the smallest ‖Ax − b‖.
Vector shortest_solution(const Eigen::MatrixXd& a, const Vector& b);
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& a);

/// A = U diag(s) Vᵀ with s falling; thin U and V.
struct SingularValues {
  Eigen::MatrixXd u;
  Vector s;
  Eigen::MatrixXd v;
};
SingularValues singular_values(const Eigen::MatrixXd& a);

/// A = V diag(values) Vᵀ of a symmetric A, with values rising.
struct SymmetricEigen {
  Vector values;
  Eigen::MatrixXd vectors;
};
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& a);

/// A = QR of at least as many rows as columns, with thin Q.
struct OrthogonalFactors {
  Eigen::MatrixXd q;
  Eigen::MatrixXd r;
};
OrthogonalFactors orthogonal_factors(const Eigen::MatrixXd& a);

}  // namespace yosida::test
