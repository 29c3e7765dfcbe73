#include "linalg/growing_cholesky.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "linalg/blas.hpp"

namespace yosida {

using linalg::BlasCall;

void GrowingCholesky::reserve(Index size) {
  if (l_.rows() >= size) return;
  const Index room = std::max<Index>({size, 2 * l_.rows(), 64});
  Matrix l(room, room);
  l.topLeftCorner(size_, size_) = l_.topLeftCorner(size_, size_);
  l_.swap(l);
  z_.conservativeResize(z_.rows(), room);
}

bool GrowingCholesky::append(const Vector& products, double square, double least, const Vector& right) {
  reserve(size_ + 1);
  const int size = static_cast<int>(size_);
  double* const row = &l_(size_, 0);
  std::copy_n(products.data(), size_, row);
  double pivot = square;
  if (size > 0) {
    const BlasCall call;
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, size, l_.data(),
                static_cast<int>(l_.cols()), row, 1);
    pivot -= cblas_ddot(size, row, 1, row, 1);
  }
  if (!(pivot > least * square)) return false;
  const double root = std::sqrt(pivot);
  l_(size_, size_) = root;
  for (Index k = 0; k < z_.rows(); ++k) {
    double sum = right[k];
    for (Index i = 0; i < size_; ++i) sum -= row[i] * z_(k, i);
    z_(k, size_) = sum / root;
  }
  ++size_;
  return true;
}

void GrowingCholesky::remove(Index place) {
  // Without the row, each one below has a number above the diagonal. A rotation of two columns for each of
  // these turns them to 0; rows take on the rotations of those above one after the other.
  const Index last = size_ - 1;
  std::vector<double> cosine(static_cast<std::size_t>(last - place)), sine(cosine.size());
  for (Index i = place; i < last; ++i) {
    double* const row = &l_(i, 0);
    std::copy_n(&l_(i + 1, 0), i + 2, row);
    const auto done = static_cast<std::size_t>(i - place);
    double right = row[place];
    for (std::size_t k = 0; k < done; ++k) {
      const double left = right;
      double* const at = row + place + static_cast<Index>(k);
      right = cosine[k] * at[1] - sine[k] * left;
      at[0] = cosine[k] * left + sine[k] * at[1];
    }
    const double length = std::hypot(right, row[i + 1]);
    cosine[done] = right / length;
    sine[done] = row[i + 1] / length;
    row[i] = length;
  }
  for (Index side = 0; side < z_.rows(); ++side)
    for (std::size_t k = 0; k < cosine.size(); ++k) {
      double* const at = &z_(side, place + static_cast<Index>(k));
      const double left = at[0];
      at[0] = cosine[k] * left + sine[k] * at[1];
      at[1] = cosine[k] * at[1] - sine[k] * left;
    }
  size_ = last;
}

void GrowingCholesky::solve(const Vector& weights, Vector& x) const {
  x.resize(size_);
  x.setZero();
  for (Index k = 0; k < z_.rows(); ++k)
    if (weights[k] != 0.0) x += weights[k] * z_.row(k).head(size_).transpose();
  if (size_ == 0) return;
  const BlasCall call;
  cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(size_), l_.data(),
              static_cast<int>(l_.cols()), x.data(), 1);
}

Vector GrowingCholesky::solved(Vector b) const {
  if (size_ == 0) return b;
  const BlasCall call;
  for (const CBLAS_TRANSPOSE side : {CblasNoTrans, CblasTrans})
    cblas_dtrsv(CblasRowMajor, CblasLower, side, CblasNonUnit, static_cast<int>(size_), l_.data(),
                static_cast<int>(l_.cols()), b.data(), 1);
  return b;
}

void add_up_rows(const Matrix& matrix, Index rows, const Vector& weight, Vector& out) {
  out.resize(matrix.cols());
  if (rows == 0) {
    out.setZero();
    return;
  }
  const BlasCall call;
  cblas_dgemv(CblasRowMajor, CblasTrans, static_cast<int>(rows), static_cast<int>(matrix.cols()), 1.0,
              matrix.data(), static_cast<int>(matrix.cols()), weight.data(), 1, 0.0, out.data(), 1);
}

}  // namespace yosida
