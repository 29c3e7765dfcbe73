#include "yosida/linalg/blas_kernels.hpp"

#include <cblas.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "linalg/blas.hpp"
#include "linalg/factor.hpp"
#include "yosida/linalg/threads.hpp"

namespace yosida {
namespace {

Matrix numbers(Index rows, Index cols, double seed) {
  Matrix a(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) a(i, j) = std::sin(seed + static_cast<double>(3 * i + 7 * j));
  return a;
}

TEST(BlasKernels, FastOnesComputeTheSameProducts) {
  const Matrix a = numbers(301, 67, 0.5);
  const Matrix b = numbers(67, 129, 1.5);
  use_fast_blas_kernels();
  Matrix expected = Matrix::Zero(a.rows(), b.cols());
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j)
      for (Index k = 0; k < a.cols(); ++k) expected(i, j) += a(i, k) * b(k, j);
  // 67 products of numbers up to 1: rounding is some 67 × 1.1e-16.
  EXPECT_LT((product(a, b) - expected).cwiseAbs().maxCoeff(), 1e-14);
}

#if defined(__x86_64__)
TEST(BlasKernels, AProcessorWithAvxIsNotLeftWithKernelsFromBeforeIt) {
  __builtin_cpu_init();
  const bool has_avx = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!has_avx || std::getenv("OPENBLAS_CORETYPE") != nullptr || blas_kernels().empty())
    GTEST_SKIP() << "a processor without AVX2, kernels named by the caller, or a BLAS that names none";
  use_fast_blas_kernels();
  EXPECT_NE(blas_kernels(), "Prescott");
  EXPECT_NE(blas_kernels(), "Core2");
  EXPECT_FALSE(use_fast_blas_kernels()) << "the second call finds nothing to do";
  EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE"), nullptr) << "children of the process choose for themselves";
}
#endif

// BLAS computes with one thread, and the host has its own number again when the last guest is gone.
TEST(HostBlasThreads, PutsBackWhatTheHostHad) {
  const int before = openblas_get_num_threads();
  openblas_set_num_threads(2);
  const int of_host = openblas_get_num_threads();
  {
    const HostBlasThreads first;
    {
      const HostBlasThreads second;
      const linalg::BlasCall call;
      EXPECT_EQ(openblas_get_num_threads(), 1);
    }
    EXPECT_EQ(openblas_get_num_threads(), 1);
  }
  EXPECT_EQ(openblas_get_num_threads(), of_host);
  {  // the host may have set another number since
    const HostBlasThreads again;
    const linalg::BlasCall call;
    EXPECT_EQ(openblas_get_num_threads(), 1);
  }
  openblas_set_num_threads(before);
}

}  // namespace
}  // namespace yosida
