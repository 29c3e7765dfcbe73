#pragma once

// The kernels behind every pass over a dense design. This header and kernels.cpp include nothing that holds
// inline functions: see cmake/kernels.cmake.

namespace yosida::linalg {

inline constexpr long kMostFours = 4;

/// The kernels for rows of numbers of one kind. They sum in double precision.
template <typename Number>
struct RowKernels {
  // x[i] is the first number of row i: rows lie wherever they are, and none is copied for a pass.

  /// out[i] = Σ_j x[i][j] w[j]
  void (*row_products)(const Number* const* x, long rows, long cols, const double* w, double* out);
  /// out[j] += Σ_i r[i] x[i][j]
  void (*add_rows)(const Number* const* x, long rows, long cols, const double* r, double* out);

  // The same for several outputs at a time, `fours` times four of them, at most kMostFours: w and the sums
  // have as many numbers for each column, r and the products for each row.

  /// out[i] = Σ_j x[i][j] w[j]
  void (*many_products)(const Number* const* x, long rows, long cols, long fours, const double* w,
                        double* out);
  /// out[j] += Σ_i r[i] x[i][j]
  void (*add_many)(const Number* const* x, long rows, long cols, long fours, const double* r, double* out);

  /// out[j] = weight factor[j] (x[j] − shift[j]) of one row, rounded
  void (*rounded_row)(const Number* x, long cols, const double* shift, const double* factor, double weight,
                      float* out);

  /// The least and the largest number of each column, and the sum, take in these rows, one after the other. A
  /// number that is none changes the sum alone.
  void (*look)(const Number* const* x, long rows, long cols, double* low, double* high, double* sum);
};

struct Kernels {
  RowKernels<double> doubles;
  RowKernels<float> singles;
};

/// The kernels for the machine the program runs on, chosen once.
const Kernels& kernels();
const RowKernels<double>& kernels_of(const double* row);
const RowKernels<float>& kernels_of(const float* row);

extern const Kernels kernels_baseline;
extern const Kernels kernels_v3;
extern const Kernels kernels_v4;

}  // namespace yosida::linalg
