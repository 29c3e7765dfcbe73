#include "linalg/exponential.hpp"
#include "search/matern.hpp"

// Built once per instruction set, with YOSIDA_KERNELS the name of the function it defines.

namespace yosida::search {
namespace {

/// e^(−t) for 0 ≤ t ≤ 200, without branches.
inline double exp_minus(double t) {
  const linalg::Exponential e = linalg::exponential_of(-t);
  const auto exponent = __builtin_bit_cast(unsigned long long, e.shifted) << 52;
  return e.mantissa * __builtin_bit_cast(double, exponent + __builtin_bit_cast(unsigned long long, 1.0));
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
