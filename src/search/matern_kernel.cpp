#include "search/matern.hpp"

// Built once per instruction set, with YOSIDA_KERNELS the name of the function it defines.

namespace yosida::search {
namespace {

/// e^(−t) for 0 ≤ t ≤ 200, without branches: 2^k e^f with k whole and |f| ≤ log(2)/2, e^f by its Taylor
/// polynomial, whose next term is below 1e-17.
inline double exp_minus(double t) {
  constexpr double kShift = 0x1.8p52;                 // adding it leaves the whole number in the last bits
  constexpr double kLog2High = 0x1.62e42fee00000p-1;  // 21 trailing zeros: its products with k are exact
  constexpr double kLog2Low = 0x1.a39ef35793c76p-33;
  const double shifted = t * -1.4426950408889634 + kShift;
  const double k = shifted - kShift;
  const double f = (-t - k * kLog2High) - k * kLog2Low;
  double sum = 1.0 / 6227020800.0;
  sum = sum * f + 1.0 / 479001600.0;
  sum = sum * f + 1.0 / 39916800.0;
  sum = sum * f + 1.0 / 3628800.0;
  sum = sum * f + 1.0 / 362880.0;
  sum = sum * f + 1.0 / 40320.0;
  sum = sum * f + 1.0 / 5040.0;
  sum = sum * f + 1.0 / 720.0;
  sum = sum * f + 1.0 / 120.0;
  sum = sum * f + 1.0 / 24.0;
  sum = sum * f + 1.0 / 6.0;
  sum = sum * f + 0.5;
  sum = sum * f + 1.0;
  sum = sum * f + 1.0;
  const auto exponent = __builtin_bit_cast(unsigned long long, shifted) << 52;
  return sum * __builtin_bit_cast(double, exponent + __builtin_bit_cast(unsigned long long, 1.0));
}

}  // namespace

void YOSIDA_KERNELS(const double* point, const double* others, long stride, long dimensions, long count,
                    const double* inverse_lengths, double amplitude, double* out) {
  constexpr double kFar = 200.0;
  for (long j = 0; j < count; ++j) out[j] = 0.0;
  for (long d = 0; d < dimensions; ++d) {
    const double* other = others + d * stride;
    const double coordinate = point[d], inverse_length = inverse_lengths[d];
#pragma omp simd
    for (long j = 0; j < count; ++j) {
      const double distance = inverse_length * (coordinate - other[j]);
      out[j] += distance * distance;
    }
  }
#pragma omp simd
  for (long j = 0; j < count; ++j) {
    const double t = __builtin_sqrt(5.0 * out[j]);
    const double near = t < kFar ? t : kFar;
    const double scale = t < kFar ? amplitude : 0.0;
    out[j] = scale * (1.0 + near * (1.0 + near * (1.0 / 3.0))) * exp_minus(near);
  }
}

}  // namespace yosida::search
