#pragma once

#include "yosida/linalg/types.hpp"

namespace yosida::linalg {

/// An object of this class lives around every call of BLAS or LAPACK; a thread must not have two of them. It
/// keeps BLAS to one thread: BLAS splits sums by its number of threads; with one, results are the same
/// whatever the machine is doing. It throws std::bad_alloc where OpenBLAS would not get the memory it works
/// in, because OpenBLAS itself would ask for it again and again, for ever.
class BlasCall {
 public:
  BlasCall();
  BlasCall(const BlasCall&) = delete;
  BlasCall& operator=(const BlasCall&) = delete;
  ~BlasCall();
};

/// out = X wᵀ for `rows` rows of `cols` numbers and an outputs × cols matrix w, all row-major. Transposed
/// because OpenBLAS allocates for small products of the other kind.
void multiply_transposed(const double* x, Index rows, Index cols, const double* w, Index outputs,
                         double* out);
/// out += Xᵀ r with r of rows × outputs.
void add_transposed(const double* x, Index rows, Index cols, const double* r, Index outputs, double* out);

}  // namespace yosida::linalg
