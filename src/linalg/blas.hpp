#pragma once

#include "yosida/linalg/types.hpp"

namespace yosida::linalg {

/// BLAS splits sums by its number of threads; with one, results are the same whatever the machine is doing.
void use_one_blas_thread();

/// out = X w for `rows` rows of `cols` numbers and a cols × outputs matrix w, all row-major.
void multiply(const double* x, Index rows, Index cols, const double* w, Index outputs, double* out);
/// out += Xᵀ r with r of rows × outputs.
void add_transposed(const double* x, Index rows, Index cols, const double* r, Index outputs, double* out);

}  // namespace yosida::linalg
