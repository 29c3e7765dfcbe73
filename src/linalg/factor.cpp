#include "linalg/factor.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "linalg/blas.hpp"

// LAPACK, as OpenBLAS brings it. It is column-major: a row-major matrix is its own transpose there.
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b,
             const int* ldb, int* info);
void dgesdd_(const char* jobz, const int* m, const int* n, double* a, const int* lda, double* s, double* u,
             const int* ldu, double* vt, const int* ldvt, double* work, const int* lwork, int* iwork,
             int* info);
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work,
             const int* lwork, int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau,
             double* work, const int* lwork, int* info);
}

namespace yosida {
namespace {

using ColumnMajor = Eigen::MatrixXd;
using linalg::BlasCall;

void check(int info, const char* routine) {
  if (info != 0)
    throw std::runtime_error(std::string("LAPACK ") + routine + " failed, info " + std::to_string(info));
}

/// R of A = QR, A overwritten with LAPACK's reflectors.
void householder(ColumnMajor& a, std::vector<double>& tau) {
  const BlasCall call;
  const int m = static_cast<int>(a.rows());
  const int n = static_cast<int>(a.cols());
  tau.resize(static_cast<std::size_t>(std::min(m, n)));
  int info = 0;
  const int query = -1;
  double size = 0.0;
  dgeqrf_(&m, &n, a.data(), &m, tau.data(), &size, &query, &info);
  const int lwork = static_cast<int>(size);
  std::vector<double> work(static_cast<std::size_t>(lwork));
  dgeqrf_(&m, &n, a.data(), &m, tau.data(), work.data(), &lwork, &info);
  check(info, "dgeqrf");
}

}  // namespace

bool cholesky_solve(Matrix& h, Eigen::Ref<Eigen::MatrixXd> b) {
  const BlasCall call;
  const int n = static_cast<int>(h.rows());
  const int columns = static_cast<int>(b.cols());
  const int stride = static_cast<int>(b.outerStride());
  int info = 0;
  dpotrf_("L", &n, h.data(), &n, &info);
  if (info != 0) return false;
  dpotrs_("L", &n, &columns, h.data(), &n, b.data(), &stride, &info);
  return info == 0 && b.allFinite();
}

int solve_semidefinite(const Matrix& h, Eigen::Ref<Eigen::MatrixXd> b) {
  const Vector scale = h.diagonal().array() + 1e-16 * h.diagonal().maxCoeff();
  int tries = 0;
  for (double jitter = 0.0; jitter < 1.0; jitter = std::max(1e-15, 100.0 * jitter)) {
    Matrix factor = h;
    factor.diagonal() += jitter * scale;
    Eigen::MatrixXd x = b;
    ++tries;
    if (!cholesky_solve(factor, x)) continue;
    b = x;
    break;
  }
  return tries;
}

bool cholesky_factor(Matrix& h) {
  const BlasCall call;
  const int n = static_cast<int>(h.rows());
  int info = 0;
  dpotrf_("U", &n, h.data(), &n, &info);         // our lower triangle is the upper one there
  return info == 0 && h.diagonal().allFinite();  // a NaN passes for positive there
}

void solve_lower(const Matrix& l, Eigen::Ref<Matrix> b) {
  const BlasCall call;
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, static_cast<int>(b.rows()),
              static_cast<int>(b.cols()), 1.0, l.data(), static_cast<int>(l.cols()), b.data(),
              static_cast<int>(b.outerStride()));
}

void solve_lower(const Matrix& l, Vector& b) {
  const BlasCall call;
  cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, static_cast<int>(b.size()), l.data(),
              static_cast<int>(l.cols()), b.data(), 1);
}

void solve_lower_transposed(const Matrix& l, Vector& b) {
  const BlasCall call;
  cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, static_cast<int>(b.size()), l.data(),
              static_cast<int>(l.cols()), b.data(), 1);
}

Svd svd(const Matrix& a, bool full_v) {
  // Aᵀ = V diag(s) Uᵀ is what LAPACK sees in a row-major A: its left vectors are our V.
  const BlasCall call;
  Matrix copy = a;
  const int m = static_cast<int>(a.cols());
  const int n = static_cast<int>(a.rows());
  const int k = std::min(m, n);
  const bool all = full_v && m > n;
  const int v_cols = all ? m : k;
  Svd result;
  result.s.resize(k);
  ColumnMajor v(m, v_cols);
  // jobz 'A' wants all of both sides; our U is square then, as n = k.
  ColumnMajor ut(all ? n : k, n);
  const int ldu = m;
  const int ldvt = static_cast<int>(ut.rows());
  const char* job = all ? "A" : "S";
  std::vector<int> iwork(static_cast<std::size_t>(8 * k));
  int info = 0;
  const int query = -1;
  double size = 0.0;
  dgesdd_(job, &m, &n, copy.data(), &m, result.s.data(), v.data(), &ldu, ut.data(), &ldvt, &size, &query,
          iwork.data(), &info);
  const int lwork = static_cast<int>(size);
  std::vector<double> work(static_cast<std::size_t>(lwork));
  dgesdd_(job, &m, &n, copy.data(), &m, result.s.data(), v.data(), &ldu, ut.data(), &ldvt, work.data(),
          &lwork, iwork.data(), &info);
  check(info, "dgesdd");
  result.u = ut.transpose();
  result.v = v;
  return result;
}

Eigensystem symmetric_eigen(const Matrix& a) {
  const BlasCall call;
  ColumnMajor vectors = a;
  const int n = static_cast<int>(a.rows());
  Eigensystem result;
  result.values.resize(n);
  int info = 0;
  const int query = -1;
  double size = 0.0;
  int integers = 0;
  dsyevd_("V", "L", &n, vectors.data(), &n, result.values.data(), &size, &query, &integers, &query, &info);
  const int lwork = static_cast<int>(size);
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(static_cast<std::size_t>(integers));
  dsyevd_("V", "L", &n, vectors.data(), &n, result.values.data(), work.data(), &lwork, iwork.data(),
          &integers, &info);
  check(info, "dsyevd");
  result.vectors = vectors;
  return result;
}

Qr qr(const Matrix& a) {
  ColumnMajor q = a;
  std::vector<double> tau;
  householder(q, tau);
  const int m = static_cast<int>(a.rows());
  const int n = static_cast<int>(a.cols());
  Qr result;
  result.r = q.topRows(n).triangularView<Eigen::Upper>();
  int info = 0;
  const int lwork = 64 * n;
  std::vector<double> work(static_cast<std::size_t>(lwork));
  const BlasCall call;
  dorgqr_(&m, &n, &n, q.data(), &m, tau.data(), work.data(), &lwork, &info);
  check(info, "dorgqr");
  result.q = q;
  return result;
}

Matrix triangular_factor(const Design& x, const Vector& shift, bool with_ones, const Vector& y,
                         double y_shift, const StopToken* stop) {
  const Index d = x.cols();
  const Index width = d + (with_ones ? 2 : 1);
  const Index block = std::min(x.rows(), std::max<Index>(3 * width, 64));
  ColumnMajor stack(width + block, width);
  Matrix rows(block, d);
  std::vector<double> tau;
  Index held = 0;  // rows of the factor so far, on top of the stack
  for (Index i = 0; i < x.rows() && !stop_requested(stop); i += block) {
    const Index count = std::min(block, x.rows() - i);
    if (stack.rows() != held + count) {
      ColumnMajor resized(held + count, width);
      resized.topRows(held) = stack.topRows(held);
      stack.swap(resized);
    }
    x.copy_rows(i, count, rows.data(), d);
    stack.block(held, 0, count, d) = rows.topRows(count).rowwise() - shift.transpose();
    if (with_ones) stack.col(d).segment(held, count).setOnes();
    stack.col(width - 1).segment(held, count) = y.segment(i, count).array() - y_shift;
    householder(stack, tau);
    held = std::min(held + count, width);
    for (Index column = 0; column < width; ++column)
      for (Index row = column + 1; row < held; ++row) stack(row, column) = 0.0;
  }
  return stack.topRows(held);
}

void add_gram(const Eigen::Ref<const Matrix>& a, Matrix& gram) {
  const BlasCall call;
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, static_cast<int>(a.cols()), static_cast<int>(a.rows()),
              1.0, a.data(), static_cast<int>(a.outerStride()), 1.0, gram.data(),
              static_cast<int>(gram.cols()));
}

void add_gram_rows(const Eigen::Ref<const Matrix>& a, Index begin, Index count, Matrix& gram) {
  const BlasCall call;
  const int rows = static_cast<int>(a.rows());
  const int stride = static_cast<int>(a.outerStride());
  const int width = static_cast<int>(gram.cols());
  double* const out = gram.row(begin).data();
  if (begin > 0)
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(count), static_cast<int>(begin),
                rows, 1.0, a.data() + begin, stride, a.data(), stride, 1.0, out, width);
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, static_cast<int>(count), rows, 1.0, a.data() + begin,
              stride, 1.0, out + begin, width);
}

void add_gram(const Eigen::Ref<const RoughMatrix>& a, RoughMatrix& gram) {
  const BlasCall call;
  cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, static_cast<int>(a.cols()), static_cast<int>(a.rows()),
              1.0F, a.data(), static_cast<int>(a.outerStride()), 1.0F, gram.data(),
              static_cast<int>(gram.cols()));
}

void add_gram_rows(const Eigen::Ref<const RoughMatrix>& a, Index begin, Index count, RoughMatrix& gram) {
  const BlasCall call;
  const int rows = static_cast<int>(a.rows());
  const int stride = static_cast<int>(a.outerStride());
  const int width = static_cast<int>(gram.cols());
  float* const out = gram.row(begin).data();
  if (begin > 0)
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(count), static_cast<int>(begin),
                rows, 1.0F, a.data() + begin, stride, a.data(), stride, 1.0F, out, width);
  cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, static_cast<int>(count), rows, 1.0F, a.data() + begin,
              stride, 1.0F, out + begin, width);
}

void add_product_transposed(const Eigen::Ref<const Matrix>& a, const Eigen::Ref<const Matrix>& b,
                            Eigen::Ref<Matrix> out) {
  const BlasCall call;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(a.rows()), static_cast<int>(b.rows()),
              static_cast<int>(a.cols()), 1.0, a.data(), static_cast<int>(a.outerStride()), b.data(),
              static_cast<int>(b.outerStride()), 1.0, out.data(), static_cast<int>(out.outerStride()));
}

void add_own_products(const Eigen::Ref<const Matrix>& a, Matrix& out) {
  const BlasCall call;
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, static_cast<int>(a.rows()), static_cast<int>(a.cols()),
              1.0, a.data(), static_cast<int>(a.outerStride()), 1.0, out.data(),
              static_cast<int>(out.cols()));
}

void add_product(const Eigen::Ref<const Matrix>& a, const Eigen::Ref<const Matrix>& b, Matrix& out) {
  const BlasCall call;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(a.rows()),
              static_cast<int>(b.cols()), static_cast<int>(a.cols()), 1.0, a.data(),
              static_cast<int>(a.outerStride()), b.data(), static_cast<int>(b.outerStride()), 1.0, out.data(),
              static_cast<int>(out.cols()));
}

Matrix product(const Eigen::Ref<const Matrix>& a, const Eigen::Ref<const Matrix>& b) {
  const BlasCall call;
  Matrix result(a.rows(), b.cols());
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(a.rows()),
              static_cast<int>(b.cols()), static_cast<int>(a.cols()), 1.0, a.data(),
              static_cast<int>(a.outerStride()), b.data(), static_cast<int>(b.outerStride()), 0.0,
              result.data(), static_cast<int>(result.cols()));
  return result;
}

CgReport conjugate_gradients(FunctionRef<void(const Vector&, Vector&)> apply, const Vector& b, Vector& x,
                             double tolerance, Index max_products, const CgOptions& options) {
  CgReport report;
  Vector product(b.size());
  Vector residual = b;
  if (!x.isZero(0.0)) {
    apply(x, product);
    ++report.products;
    residual -= product;
  }
  // Where a diagonal entry is useless (a column of zeros), the residual is left as it is.
  Vector inverse = Vector::Ones(b.size());
  if (const Vector* diagonal = options.diagonal)
    inverse = (diagonal->array() > 0.0).select(diagonal->cwiseInverse(), 1.0);
  const auto preconditioned = [&] {
    Vector result = options.precondition ? residual : Vector(inverse.cwiseProduct(residual));
    if (options.precondition) (*options.precondition)(result);
    return result;
  };
  Vector scaled = preconditioned();
  Vector direction = scaled;
  double square = residual.dot(scaled);
  const auto size = [&] {
    if (options.norm) return (*options.norm)(residual);
    return options.in_its_units ? std::sqrt(square) : residual.norm();
  };
  report.residual_norm = size();
  while (report.products < max_products && report.residual_norm > tolerance &&
         !stop_requested(options.stop)) {
    apply(direction, product);
    ++report.products;
    const double curvature = direction.dot(product);
    if (!(curvature > 0.0)) {  // rounding decides, or H is indefinite: x stays as it is
      report.curvature = curvature / direction.squaredNorm();
      break;
    }
    report.largest_curvature = std::max(report.largest_curvature, curvature / direction.squaredNorm());
    const double step = square / curvature;
    x += step * direction;
    residual -= step * product;
    scaled = preconditioned();
    const double next = residual.dot(scaled);
    direction = scaled + (next / square) * direction;
    square = next;
    report.residual_norm = size();
  }
  return report;
}

}  // namespace yosida
