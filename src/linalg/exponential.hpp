#pragma once

// What kernels share that need e^x. Like them, this includes nothing that holds inline functions: see
// cmake/kernels.cmake.

namespace yosida::linalg {

/// e^x = mantissa · 2^k, k the whole number in the last bits of `shifted`, for |x| < 1e5. No branches, so
/// that loops of it become vectors. The mantissa is e^f, |f| ≤ log(2)/2, by its Taylor polynomial, whose next
/// term is below 1e-17.
struct Exponential {
  double mantissa, shifted;
};

/// What is added to a number to leave its whole part in the last bits.
static constexpr double kShiftToBits = 0x1.8p52;

static inline Exponential exponential_of(double x) {
  constexpr double kLog2High = 0x1.62e42fee00000p-1;  // 21 trailing zeros: its products with k are exact
  constexpr double kLog2Low = 0x1.a39ef35793c76p-33;
  const double shifted = x * 1.4426950408889634 + kShiftToBits;
  const double k = shifted - kShiftToBits;
  const double f = (x - k * kLog2High) - k * kLog2Low;
  // Even and odd powers apart: two chains of half the length.
  const double square = f * f;
  double odd = 1.0 / 6227020800.0;
  double even = 1.0 / 479001600.0;
  odd = odd * square + 1.0 / 39916800.0;
  even = even * square + 1.0 / 3628800.0;
  odd = odd * square + 1.0 / 362880.0;
  even = even * square + 1.0 / 40320.0;
  odd = odd * square + 1.0 / 5040.0;
  even = even * square + 1.0 / 720.0;
  odd = odd * square + 1.0 / 120.0;
  even = even * square + 1.0 / 24.0;
  odd = odd * square + 1.0 / 6.0;
  even = even * square + 0.5;
  odd = odd * square + 1.0;
  return {1.0 + (odd * f + even * square), shifted};  // 1 last: what is rounded before is small
}

}  // namespace yosida::linalg
