#pragma once

#include "yosida/linalg/types.hpp"

namespace yosida::linalg {

/// BLAS splits sums by its number of threads; with one, results are the same whatever the machine is doing.
void use_one_blas_thread();

/// out = X wᵀ for `rows` rows of `cols` numbers and an outputs × cols matrix w, all row-major. Transposed
/// because OpenBLAS allocates for small products of the other kind.
void multiply_transposed(const double* x, Index rows, Index cols, const double* w, Index outputs,
                         double* out);
/// out += Xᵀ r with r of rows × outputs.
void add_transposed(const double* x, Index rows, Index cols, const double* r, Index outputs, double* out);

}  // namespace yosida::linalg
