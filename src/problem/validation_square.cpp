#include "problem/validation_square.hpp"

#include <algorithm>

#include "linalg/factor.hpp"
#include "linalg/gram.hpp"
#include "linalg/large_blocks.hpp"
#include "linalg/row_numbers.hpp"

namespace yosida {

ValidationSquare::ValidationSquare(Design x, Vector z, bool intercept, const StopToken* stop)
    : x_(std::move(x)), z_(std::move(z)) {
  const Index d = x_.cols();
  if (x_.rows() < d) return;
  const Index size = d + (intercept ? 1 : 0);
  gram_ = linalg::unfilled(size, size);
  RowSums sums = row_sums(x_, z_, stop);
  gram_.topLeftCorner(d, d) = sums.gram;
  right_.resize(size);
  right_.head(d) = sums.with_y;
  if (intercept) {
    gram_.row(d).head(d) = sums.rows;
    gram_.col(d).head(d) = sums.rows;
    gram_(d, d) = static_cast<double>(x_.rows());
    right_[d] = sum_of(x_, z_);
  }
  square_ = dot_of(x_, z_, z_);
}

double ValidationSquare::gradient(const Vector& p, Vector& g) const {
  if (has_products()) {
    g = gram_ * p - right_;
    return std::max(p.dot(g - right_) + square_, 0.0);
  }
  Vector residual(x_.rows());
  x_.multiply(as_span(p), as_span(residual));
  residual -= z_;
  g.setZero(p.size());
  x_.add_transposed(as_span(residual), as_span(g));
  return dot_of(x_, residual, residual);
}

void ValidationSquare::multiply(const Vector& p, Vector& out) const {
  if (has_products()) {
    out = gram_ * p;
    return;
  }
  Vector products(x_.rows());
  x_.multiply(as_span(p), as_span(products));
  out.setZero(p.size());
  x_.add_transposed(as_span(products), as_span(out));
}

Matrix ValidationSquare::along(const Eigen::MatrixXd& a) const {
  const Index count = a.cols() / 2;
  Matrix result(2, count);
  if (has_products()) {
    const Index d = x_.cols();
    const auto right = right_.head(d).transpose();
    // They are taken as matrices of rows: BLAS then reads the products once for all columns.
    const Matrix w = a.transpose();
    const Matrix products = product(w, gram_.topLeftCorner(d, d));
    for (Index k = 0; k < count; ++k) {
      const Eigen::RowVectorXd g = products.row(2 * k) - right;
      result(0, k) = std::max(w.row(2 * k).dot(g - right) + square_, 0.0);
      result(1, k) = w.row(2 * k + 1).dot(g);
    }
    return result;
  }
  const Eigen::MatrixXd products = multiplied(x_, Matrix(a));
  for (Index k = 0; k < count; ++k) {
    const Vector residual = products.col(2 * k) - z_;
    result(0, k) = dot_of(x_, residual, residual);
    result(1, k) = dot_of(x_, residual, products.col(2 * k + 1));
  }
  return result;
}

double ValidationSquare::flops() const {
  const auto d = static_cast<double>(x_.cols());
  return 2.0 * d * std::min(d, static_cast<double>(x_.rows()));
}

}  // namespace yosida
