#include "linalg/kernels.hpp"

// Built once per instruction set, with YOSIDA_KERNELS the name of the table it defines.

namespace yosida::linalg {
namespace {

/// Four numbers, in whatever registers the instruction set has. Wider ones are no faster: memory is slower.
using Four = double __attribute__((vector_size(32), aligned(8), may_alias));

const Four& four(const double* p) { return *reinterpret_cast<const Four*>(p); }

/// Up to so many columns w stays in the first-level cache beside the rows. Then rows are best read one after
/// the other, as memory delivers them; above, four at a time, so that each load of w serves four.
constexpr long kShortRow = 1024;

double product(const double* x, long cols, const double* w) {
  Four a{}, b{}, c{}, d{};
  long j = 0;
  for (; j + 16 <= cols; j += 16) {
    a += four(x + j) * four(w + j);
    b += four(x + j + 4) * four(w + j + 4);
    c += four(x + j + 8) * four(w + j + 8);
    d += four(x + j + 12) * four(w + j + 12);
  }
  for (; j + 4 <= cols; j += 4) a += four(x + j) * four(w + j);
  a = (a + b) + (c + d);
  double sum = (a[0] + a[1]) + (a[2] + a[3]);
  for (; j < cols; ++j) sum += x[j] * w[j];
  return sum;
}

void row_products(const double* const* x, long rows, long cols, const double* w, double* out) {
  long i = 0;
  for (; cols > kShortRow && i + 4 <= rows; i += 4) {
    const double* x0 = x[i];
    const double* x1 = x[i + 1];
    const double* x2 = x[i + 2];
    const double* x3 = x[i + 3];
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (long j = 0; j < cols; ++j) {
      s0 += x0[j] * w[j];
      s1 += x1[j] * w[j];
      s2 += x2[j] * w[j];
      s3 += x3[j] * w[j];
    }
    out[i] = s0;
    out[i + 1] = s1;
    out[i + 2] = s2;
    out[i + 3] = s3;
  }
  for (; i < rows; ++i) out[i] = product(x[i], cols, w);
}

/// Four rows at a time: each load and store of out serves four.
void add_rows(const double* const* x, long rows, long cols, const double* r, double* out) {
  long i = 0;
  for (; i + 4 <= rows; i += 4) {
    const double* x0 = x[i];
    const double* x1 = x[i + 1];
    const double* x2 = x[i + 2];
    const double* x3 = x[i + 3];
    const double r0 = r[i], r1 = r[i + 1], r2 = r[i + 2], r3 = r[i + 3];
#pragma omp simd
    for (long j = 0; j < cols; ++j) out[j] += (r0 * x0[j] + r1 * x1[j]) + (r2 * x2[j] + r3 * x3[j]);
  }
  for (; i < rows; ++i) {
    const double* x0 = x[i];
    const double r0 = r[i];
#pragma omp simd
    for (long j = 0; j < cols; ++j) out[j] += r0 * x0[j];
  }
}

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

void matern52(const double* point, const double* others, long stride, long dimensions, long count,
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

}  // namespace

extern const Kernels YOSIDA_KERNELS;
const Kernels YOSIDA_KERNELS = {row_products, add_rows, matern52};

}  // namespace yosida::linalg
