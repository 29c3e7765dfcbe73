#include "linalg/exponential.hpp"
#include "model/exponentials.hpp"

// Built once per instruction set, with YOSIDA_KERNELS the name of the function it defines.

namespace yosida {
namespace {

/// 2^k from the bits of k + 1023.
inline double power(unsigned long long biased) { return __builtin_bit_cast(double, biased << 52); }

/// e^x for any x. Beyond these bounds it is 0 or ∞, and it may be subnormal between them, so 2^k is
/// multiplied in two halves.
inline double exponential(double x) {
  constexpr double kLeast = -746.0, kMost = 710.0;
  constexpr unsigned long long kEven = 4096;                          // keeps k above 0 while it is halved
  const double inside = x < kLeast ? kLeast : x > kMost ? kMost : x;  // a NaN stays one
  const linalg::Exponential e = linalg::exponential_of(inside);
  const unsigned long long k = __builtin_bit_cast(unsigned long long, e.shifted) -
                               __builtin_bit_cast(unsigned long long, linalg::kShiftToBits);
  const unsigned long long half = (k + kEven) / 2;
  return e.mantissa * power(half - kEven / 2 + 1023) * power(k - (half - kEven / 2) + 1023);
}

/// So many are computed at a time, and the last block is filled up: so each number is computed in the same
/// way wherever it stands.
constexpr long kBlock = 8;

inline void block_of(const double* x, double* out) {
#pragma omp simd
  for (long i = 0; i < kBlock; ++i) out[i] = exponential(x[i]);
}

}  // namespace

void YOSIDA_KERNELS(const double* x, long count, double* out) {
  long i = 0;
  for (; i + kBlock <= count; i += kBlock) block_of(x + i, out + i);
  if (i == count) return;
  double rest[kBlock] = {};
  for (long j = i; j < count; ++j) rest[j - i] = x[j];
  block_of(rest, rest);
  for (long j = i; j < count; ++j) out[j] = rest[j - i];
}

}  // namespace yosida
