#include "problem/hat_matrix.hpp"

#include <cmath>

#include "linalg/factor.hpp"

namespace yosida {
namespace {

/// Where rounding has made H indefinite, shares of its diagonal up to the last of these are added.
constexpr double kShares[] = {0.0, 1e-15, 1e-14, 1e-13, 1e-12};

/// Only the lower triangle of H is read. False where it cannot be factored.
bool factor(const Matrix& h, Matrix& l) {
  for (const double share : kShares) {
    l = h;
    l.diagonal() *= 1.0 + share;
    if (cholesky_factor(l)) return true;
  }
  return false;
}

/// X with a last column of ones where there is an intercept.
Matrix with_ones(const Matrix& x, bool intercept) {
  if (!intercept) return x;
  Matrix all(x.rows(), x.cols() + 1);
  all.leftCols(x.cols()) = x;
  all.col(x.cols()).setOnes();
  return all;
}

}  // namespace

HatMatrix::HatMatrix(const Matrix& x, bool intercept, const Vector& d, const Vector& c)
    : intercept_(intercept) {
  const bool all_penalised = c.size() == 0 || c.head(x.cols()).minCoeff() > 0.0;
  if (x.rows() < x.cols() && all_penalised) {
    factor_rows(x, d, c);
  } else {
    factor_features(x, d, c);
  }
}

void HatMatrix::factor_features(const Matrix& x, const Vector& d, const Vector& c) {
  const Matrix all = with_ones(x, intercept_);
  Matrix h = Matrix::Zero(all.cols(), all.cols());
  add_gram(d.cwiseSqrt().asDiagonal() * all, h);
  h.diagonal() += c;
  whole_ = factor(h, l_);
  if (!whole_) return;
  z_ = all.transpose();
  solve_lower(l_, z_);
  diagonal_ = z_.colwise().squaredNorm().transpose();
  remainder_ = 1.0 - d.array() * diagonal_.array();
}

/// With P = diag(c)⁻¹ and F = (I + DK)⁻¹ = I − D^½B⁻¹D^½K, B = I + D^½KD^½: the columns of T solve
///   T = P Xᵀ E,  G = K E + 1tᵀ,  E = I − DG = F − F d tᵀ,  1ᵀE = 0, so t = Fᵀ1/(1ᵀFd)
/// with an intercept t, and E = F without one.
void HatMatrix::factor_rows(const Matrix& x, const Vector& d, const Vector& c) {
  const Index n = x.rows();
  const Vector p = c.head(x.cols()).cwiseInverse();
  const Matrix scaled = x * p.asDiagonal();
  Matrix k = Matrix::Zero(n, n);
  add_product_transposed(scaled, x, k);
  const Vector root = d.cwiseSqrt();
  Matrix b = root.asDiagonal() * k * root.asDiagonal();
  b.diagonal().array() += 1.0;
  Matrix l;
  whole_ = factor(b, l);
  if (!whole_) return;
  Matrix half = root.asDiagonal() * k;  // L⁻¹D^½K
  solve_lower(l, half);
  Matrix roots = root.asDiagonal() * Matrix::Identity(n, n);  // L⁻¹D^½
  solve_lower(l, roots);
  Matrix e = Matrix::Identity(n, n) - product(roots.transpose(), half);
  Vector t = Vector::Zero(n);
  if (intercept_) {
    const Vector along = e * d;
    t = e.colwise().sum().transpose() / along.sum();
    e -= along * t.transpose();
  }
  g_ = product(k, e);
  g_.rowwise() += t.transpose();
  diagonal_ = g_.diagonal();
  remainder_ = e.diagonal();
  t_.resize(x.cols() + (intercept_ ? 1 : 0), n);
  t_.topRows(x.cols()) = product(scaled.transpose(), e);
  if (intercept_) t_.row(x.cols()) = t.transpose();
}

HatMatrix::Spread HatMatrix::spread(const Vector& v) const {
  if (z_.size() == 0) return {.of_weights = t_.cwiseAbs2() * v, .of_rows = g_.cwiseAbs2() * v};
  // H⁻¹X̃ᵀ diag(v) X̃H⁻¹ = L⁻ᵀ S L⁻¹ with S = Z diag(v) Zᵀ
  const Matrix s = product(z_ * v.asDiagonal(), z_.transpose());
  const Vector of_rows = product(s, z_).cwiseProduct(z_).colwise().sum().transpose();
  Eigen::MatrixXd m = l_.triangularView<Eigen::Lower>().transpose().solve(Eigen::MatrixXd(s));
  m = l_.triangularView<Eigen::Lower>().transpose().solve(Eigen::MatrixXd(m.transpose()));
  return {.of_weights = m.diagonal(), .of_rows = of_rows};
}

Matrix HatMatrix::squares() const { return (z_.size() == 0 ? g_ : product(z_.transpose(), z_)).cwiseAbs2(); }

Matrix HatMatrix::response() const {
  if (z_.size() == 0) return t_;
  return l_.triangularView<Eigen::Lower>().transpose().solve(z_);
}

}  // namespace yosida
