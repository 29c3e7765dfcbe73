#include "support/dense.hpp"

#include <Eigen/Dense>

namespace yosida::test {

Vector symmetric_solution(const Eigen::MatrixXd& h, const Vector& b) { return h.ldlt().solve(b); }

Vector shortest_solution(const Eigen::MatrixXd& a, const Vector& b) {
  return a.completeOrthogonalDecomposition().solve(b);
}

Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& a) {
  return a.completeOrthogonalDecomposition().pseudoInverse();
}

SingularValues singular_values(const Eigen::MatrixXd& a) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> made(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
  return {made.matrixU(), made.singularValues(), made.matrixV()};
}

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> made(a);
  return {made.eigenvalues(), made.eigenvectors()};
}

OrthogonalFactors orthogonal_factors(const Eigen::MatrixXd& a) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> made(a);
  return {made.householderQ() * Eigen::MatrixXd::Identity(a.rows(), a.cols()),
          made.matrixQR().topRows(a.cols()).triangularView<Eigen::Upper>()};
}

}  // namespace yosida::test
