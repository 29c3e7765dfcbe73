#pragma once

// Exponential functions of many numbers. This header and exponentials_kernel.cpp include nothing that holds
// inline functions: see cmake/kernels.cmake.

namespace yosida {

/// out[i] = e^x[i], to 2 units of the last place: 0, ∞ or NaN where that is. `out` may be `x`. A number's
/// result does not depend on the others, nor on how many they are.
using Exponentials = void(const double* x, long count, double* out);

/// Calls the kernel for the machine that the program runs on.
Exponentials exponentials;

Exponentials exponentials_baseline;
Exponentials exponentials_v3;
Exponentials exponentials_v4;

}  // namespace yosida
