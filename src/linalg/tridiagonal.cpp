#include "linalg/tridiagonal.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "linalg/blas.hpp"

// LAPACK, as OpenBLAS brings it. It is column-major: the lower triangle of a row-major matrix is the upper
// one there.
extern "C" {
void dsytrd_(const char* uplo, const int* n, double* a, const int* lda, double* d, double* e, double* tau,
             double* work, const int* lwork, int* info);
void dormql_(const char* side, const char* trans, const int* m, const int* n, const int* k, double* a,
             const int* lda, const double* tau, double* c, const int* ldc, double* work, const int* lwork,
             int* info);
void dsterf_(const int* n, double* d, double* e, int* info);
}

namespace yosida {
namespace {

using linalg::BlasCall;

/// Reflections are made and applied so many at a time, where there are columns enough to pay for the products
/// of reflections with each other.
constexpr int kBlock = 64;
constexpr Index kColumnsForBlocks = 16;

void check(int info, const char* routine) {
  if (info != 0)
    throw std::runtime_error(std::string("LAPACK ") + routine + " failed, info " + std::to_string(info));
}

}  // namespace

Tridiagonal::Tridiagonal(Matrix lower) {
  const BlasCall call;
  const int n = static_cast<int>(lower.rows());
  diagonal_.resize(n);
  off_diagonal_.resize(std::max(n - 1, 0));
  scales_.resize(off_diagonal_.size());
  if (n == 0) return;
  const int lwork = kBlock * n;
  std::vector<double> work(static_cast<std::size_t>(lwork));
  int info = 0;
  dsytrd_("U", &n, lower.data(), &n, diagonal_.data(), off_diagonal_.data(), scales_.data(), work.data(),
          &lwork, &info);
  check(info, "dsytrd");
  // LAPACK's column j + 1 holds that of reflection j above the diagonals. They are put together where they
  // are, and the rest of the memory goes back: a copy would have both at once, and folds are reduced side by
  // side.
  for (Index j = 0; j < scales_.size(); ++j)
    std::copy_n(lower.row(j + 1).data(), j, lower.data() + first_of(j));
  lower.conservativeResize(first_of(scales_.size()) / n + 1, Eigen::NoChange);
  reflections_ = std::move(lower);
}

Eigen::MatrixXd Tridiagonal::times(Eigen::MatrixXd a, bool transposed) const {
  const Index count = scales_.size();
  if (a.cols() < kColumnsForBlocks) {
    for (Index step = 0; step < count; ++step) {
      const Index j = transposed ? count - 1 - step : step;
      const auto v = reflection(j);
      for (Index k = 0; k < a.cols(); ++k) {
        const double share = scales_[j] * (v.dot(a.col(k).head(j)) + a(j, k));
        a.col(k).head(j) -= share * v;
        a(j, k) -= share;
      }
    }
    return a;
  }
  const BlasCall call;
  const Index blocks = (count + kBlock - 1) / kBlock;
  const int columns = static_cast<int>(a.cols()), stride = static_cast<int>(size());
  const int lwork = kBlock * (columns + kBlock + 1);
  std::vector<double> work(static_cast<std::size_t>(lwork));
  Eigen::MatrixXd block;
  for (Index step = 0; step < blocks; ++step) {
    const Index first = kBlock * (transposed ? blocks - 1 - step : step);
    const int held = static_cast<int>(std::min<Index>(kBlock, count - first));
    const int rows = static_cast<int>(first) + held;
    block.setZero(rows, held);
    for (Index k = 0; k < held; ++k) block.col(k).head(first + k) = reflection(first + k);
    int info = 0;
    dormql_("L", transposed ? "T" : "N", &rows, &columns, &held, block.data(), &rows, scales_.data() + first,
            a.data(), &stride, work.data(), &lwork, &info);
    check(info, "dormql");
  }
  return a;
}

Vector Tridiagonal::eigenvalues() const {
  const BlasCall call;
  Vector values = diagonal_;
  Vector off = off_diagonal_;
  const int n = static_cast<int>(size());
  int info = 0;
  dsterf_(&n, values.data(), off.data(), &info);
  check(info, "dsterf");
  return values;
}

/// In k dimensions (H + c) x − b has the norm ‖b‖ Π β_i / Π pivot_i, of which c > 0 leaves less; over the
/// least of h it bounds the error of x, which is at least ‖b‖ over the largest.
std::optional<KrylovSpace> krylov_space(const Vector& h, const Vector& b, Index most) {
  constexpr double kRounding = std::numeric_limits<double>::epsilon();
  const double condition = h.maxCoeff() / h.minCoeff();
  most = std::min(most, h.size() - 1);
  Eigen::MatrixXd basis(h.size(), std::max<Index>(most, 0));
  std::vector<double> diagonal, off_diagonal;
  Vector next = b;
  double length = next.norm(), pivot = 0.0, left = condition;
  for (Index k = 0; k < most && length > 0.0; ++k) {
    basis.col(k) = next / length;
    if (k > 0) off_diagonal.push_back(length);
    const auto known = basis.leftCols(k + 1);
    next = h.cwiseProduct(basis.col(k));
    diagonal.push_back(basis.col(k).dot(next));
    for (int pass = 0; pass < 2; ++pass) next -= known * (known.transpose() * next).eval();
    pivot = diagonal.back() - (k > 0 ? length * length / pivot : 0.0);
    length = next.norm();
    if (!(pivot > 0.0)) return {};
    left *= length / pivot;
    if (left > kRounding) continue;
    return KrylovSpace{.basis = known,
                       .diagonal = Eigen::Map<Vector>(diagonal.data(), k + 1),
                       .off_diagonal = Eigen::Map<Vector>(off_diagonal.data(), k)};
  }
  return {};
}

void solve_tridiagonal(const Vector& diagonal, const Vector& off_diagonal, double c, Eigen::Ref<Vector> b) {
  const Index n = diagonal.size();
  if (off_diagonal.size() == 0) {
    for (Index i = 0; i < n; ++i) {
      const double pivot = diagonal[i] + c;
      b[i] = pivot > 0.0 ? b[i] / pivot : 0.0;
    }
    return;
  }
  thread_local std::vector<double> inverse;  // of the pivots
  inverse.resize(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    double pivot = diagonal[i] + c;
    if (i > 0) {
      const double factor = off_diagonal[i - 1] * inverse[static_cast<std::size_t>(i - 1)];
      pivot -= factor * off_diagonal[i - 1];
      b[i] -= factor * b[i - 1];
    }
    inverse[static_cast<std::size_t>(i)] = pivot > 0.0 ? 1.0 / pivot : 0.0;
  }
  for (Index i = n; i-- > 0;) {
    if (i + 1 < n) b[i] -= off_diagonal[i] * b[i + 1];
    b[i] *= inverse[static_cast<std::size_t>(i)];
  }
}

}  // namespace yosida
