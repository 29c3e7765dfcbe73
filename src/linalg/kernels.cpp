#include "linalg/kernels.hpp"

// Built once per instruction set, with YOSIDA_KERNELS the name of the table it defines.

namespace yosida::linalg {
namespace {

/// Four numbers, in whatever registers the instruction set has. Wider ones are no faster: memory is slower.
using Four = double __attribute__((vector_size(32), aligned(8), may_alias));

using FourSingles = float __attribute__((vector_size(16), aligned(4), may_alias));

/// sum += x w, four numbers each.
void add_four(Four& sum, const double* x, const double* w) {
  sum += *reinterpret_cast<const Four*>(x) * *reinterpret_cast<const Four*>(w);
}
void add_four(Four& sum, const float* x, const double* w) {
  sum += __builtin_convertvector(*reinterpret_cast<const FourSingles*>(x), Four) *
         *reinterpret_cast<const Four*>(w);
}

/// Up to so many columns w stays in the first-level cache beside the rows. Then rows are best read one after
/// the other, as memory delivers them; above, four at a time, so that each load of w serves four.
constexpr long kShortRow = 1024;

template <typename Number>
double product(const Number* x, long cols, const double* w) {
  Four a{}, b{}, c{}, d{};
  long j = 0;
  for (; j + 16 <= cols; j += 16) {
    add_four(a, x + j, w + j);
    add_four(b, x + j + 4, w + j + 4);
    add_four(c, x + j + 8, w + j + 8);
    add_four(d, x + j + 12, w + j + 12);
  }
  for (; j + 4 <= cols; j += 4) add_four(a, x + j, w + j);
  a = (a + b) + (c + d);
  double sum = (a[0] + a[1]) + (a[2] + a[3]);
  for (; j < cols; ++j) sum += x[j] * w[j];
  return sum;
}

template <typename Number>
void row_products(const Number* const* x, long rows, long cols, const double* w, double* out) {
  long i = 0;
  for (; cols > kShortRow && i + 4 <= rows; i += 4) {
    const Number* x0 = x[i];
    const Number* x1 = x[i + 1];
    const Number* x2 = x[i + 2];
    const Number* x3 = x[i + 3];
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
template <typename Number>
void add_rows(const Number* const* x, long rows, long cols, const double* r, double* out) {
  long i = 0;
  for (; i + 4 <= rows; i += 4) {
    const Number* x0 = x[i];
    const Number* x1 = x[i + 1];
    const Number* x2 = x[i + 2];
    const Number* x3 = x[i + 3];
    const double r0 = r[i], r1 = r[i + 1], r2 = r[i + 2], r3 = r[i + 3];
#pragma omp simd
    for (long j = 0; j < cols; ++j) out[j] += (r0 * x0[j] + r1 * x1[j]) + (r2 * x2[j] + r3 * x3[j]);
  }
  for (; i < rows; ++i) {
    const Number* x0 = x[i];
    const double r0 = r[i];
#pragma omp simd
    for (long j = 0; j < cols; ++j) out[j] += r0 * x0[j];
  }
}

}  // namespace

extern const Kernels YOSIDA_KERNELS;
const Kernels YOSIDA_KERNELS = {{row_products, add_rows}, {row_products, add_rows}};

}  // namespace yosida::linalg
