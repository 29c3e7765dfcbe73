#include "linalg/tridiagonal.hpp"

#include <cblas.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "linalg/blas.hpp"

// LAPACK, as OpenBLAS brings it. It is column-major: the lower triangle of a row-major matrix is the upper
// one there.
extern "C" {
void dsytrd_(const char* uplo, const int* n, double* a, const int* lda, double* d, double* e, double* tau,
             double* work, const int* lwork, int* info);
void dorgtr_(const char* uplo, const int* n, double* a, const int* lda, const double* tau, double* work,
             const int* lwork, int* info);
void dsterf_(const int* n, double* d, double* e, int* info);
}

namespace yosida {
namespace {

using linalg::BlasCall;

void check(int info, const char* routine) {
  if (info != 0)
    throw std::runtime_error(std::string("LAPACK ") + routine + " failed, info " + std::to_string(info));
}

}  // namespace

Tridiagonal::Tridiagonal(Matrix lower) {
  q_ = Eigen::Map<const Eigen::MatrixXd>(lower.data(), lower.rows(), lower.cols());
  lower.resize(0, 0);
  const BlasCall call;
  const int n = static_cast<int>(q_.rows());
  diagonal_.resize(n);
  off_diagonal_.resize(std::max(n - 1, 0));
  if (n == 0) return;
  std::vector<double> scales(static_cast<std::size_t>(n));
  constexpr int kBlock = 64;  // of reflections that are made or applied at a time
  const int lwork = kBlock * n;
  std::vector<double> work(static_cast<std::size_t>(lwork));
  int info = 0;
  dsytrd_("U", &n, q_.data(), &n, diagonal_.data(), off_diagonal_.data(), scales.data(), work.data(), &lwork,
          &info);
  check(info, "dsytrd");
  dorgtr_("U", &n, q_.data(), &n, scales.data(), work.data(), &lwork, &info);
  check(info, "dorgtr");
}

Eigen::MatrixXd Tridiagonal::times(const Eigen::MatrixXd& a, bool transposed) const {
  const BlasCall call;
  Eigen::MatrixXd result(a.rows(), a.cols());
  const int n = static_cast<int>(size());
  if (n > 0 && a.cols() > 0)
    cblas_dgemm(CblasColMajor, transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, n,
                static_cast<int>(a.cols()), n, 1.0, q_.data(), n, a.data(), n, 0.0, result.data(), n);
  return result;
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
