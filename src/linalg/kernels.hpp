#pragma once

// The kernels behind every pass over a dense design, and behind Gaussian processes. This header and
// kernels.cpp include nothing that holds inline functions: see cmake/kernels.cmake.

namespace yosida::linalg {

struct Kernels {
  // x[i] is the first number of row i: rows lie wherever they are, and none is copied for a pass.

  /// out[i] = Σ_j x[i][j] w[j]
  void (*row_products)(const double* const* x, long rows, long cols, const double* w, double* out);
  /// out[j] += Σ_i r[i] x[i][j]
  void (*add_rows)(const double* const* x, long rows, long cols, const double* r, double* out);
  /// The Matérn covariance with ν = 5/2 of one point and each of `count` others, whose coordinate d is
  /// others[d·stride + j]: out[j] = a (1 + √5 r + 5/3 r²) e^(−√5 r), r² = Σ_d (inverse_lengths[d] (point[d] −
  /// others[d·stride + j]))², to a few units of the last place. Exactly 0 where √5 r > 200.
  void (*matern52)(const double* point, const double* others, long stride, long dimensions, long count,
                   const double* inverse_lengths, double amplitude, double* out);
};

/// The kernels for the machine the program runs on, chosen once.
const Kernels& kernels();

extern const Kernels kernels_baseline;
extern const Kernels kernels_v3;
extern const Kernels kernels_v4;

}  // namespace yosida::linalg
