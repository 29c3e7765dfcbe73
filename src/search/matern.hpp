#pragma once

// The covariances of a Gaussian process. This header and matern_kernel.cpp include nothing that holds inline
// functions: see cmake/kernels.cmake.

namespace yosida::search {

/// The Matérn covariance with ν = 5/2 of one point and each of `count` others, whose coordinate d is
/// others[d·stride + j]: out[j] = a (1 + √5 r + 5/3 r²) e^(−√5 r), r² = Σ_d (inverse_lengths[d] (point[d] −
/// others[d·stride + j]))², to a few units of the last place. Exactly 0 where √5 r > 200.
using Matern52 = void(const double* point, const double* others, long stride, long dimensions, long count,
                      const double* inverse_lengths, double amplitude, double* out);

/// Calls the kernel for the machine that the program runs on.
Matern52 matern52;

Matern52 matern52_baseline;
Matern52 matern52_v3;
Matern52 matern52_v4;

}  // namespace yosida::search
