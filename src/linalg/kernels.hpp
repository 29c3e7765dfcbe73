#pragma once

// The kernels behind every pass over a dense design. This header and kernels.cpp include nothing that holds
// inline functions: see cmake/kernels.cmake.

namespace yosida::linalg {

struct Kernels {
  /// out[i] = Σ_j x[i·cols + j] w[j]
  void (*row_products)(const double* x, long rows, long cols, const double* w, double* out);
  /// out[j] += Σ_i r[i] x[i·cols + j]
  void (*add_rows)(const double* x, long rows, long cols, const double* r, double* out);
};

/// The kernels for the machine the program runs on, chosen once.
const Kernels& kernels();

extern const Kernels kernels_baseline;
extern const Kernels kernels_v3;
extern const Kernels kernels_v4;

}  // namespace yosida::linalg
