#include "linalg/blas.hpp"

#include <cblas.h>

#include <mutex>

namespace yosida::linalg {

void use_one_blas_thread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
}

void multiply_transposed(const double* x, Index rows, Index cols, const double* w, Index outputs,
                         double* out) {
  use_one_blas_thread();
  const int k = static_cast<int>(outputs);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows), k, static_cast<int>(cols), 1.0,
              x, static_cast<int>(cols), w, static_cast<int>(cols), 0.0, out, k);
}

void add_transposed(const double* x, Index rows, Index cols, const double* r, Index outputs, double* out) {
  use_one_blas_thread();
  const int k = static_cast<int>(outputs);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(cols), k, static_cast<int>(rows), 1.0,
              x, static_cast<int>(cols), r, k, 1.0, out, k);
}

}  // namespace yosida::linalg
