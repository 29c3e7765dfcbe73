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

/// Columns that are worked on at a time: their weights stay in the first-level cache for all rows of a block.
constexpr long kTile = 128;

/// Products of R rows with 4V outputs: each load of w serves R rows.
template <long R, long V, typename Number>
void tile_products(const Number* const* x, long begin, long end, const Four* w, Four* out) {
  Four sum[R][V];
  for (long i = 0; i < R; ++i)
    for (long v = 0; v < V; ++v) sum[i][v] = out[i * V + v];
  for (long j = begin; j < end; ++j)
    for (long i = 0; i < R; ++i) {
      const double number = static_cast<double>(x[i][j]);
      for (long v = 0; v < V; ++v) sum[i][v] += number * w[j * V + v];
    }
  for (long i = 0; i < R; ++i)
    for (long v = 0; v < V; ++v) out[i * V + v] = sum[i][v];
}

/// Each load and store of out serves R rows.
template <long R, long V, typename Number>
void tile_sums(const Number* const* x, long begin, long end, const Four* r, Four* out) {
  Four weights[R * V];
  for (long i = 0; i < R * V; ++i) weights[i] = r[i];
  for (long j = begin; j < end; ++j) {
    Four sum[V];
    for (long v = 0; v < V; ++v) sum[v] = out[j * V + v];
    for (long i = 0; i < R; ++i) {
      const double number = static_cast<double>(x[i][j]);
      for (long v = 0; v < V; ++v) sum[v] += number * weights[i * V + v];
    }
    for (long v = 0; v < V; ++v) out[j * V + v] = sum[v];
  }
}

template <long V, typename Number>
void many_products_of(const Number* const* x, long rows, long cols, const double* w, double* out) {
  constexpr long kRows = V < 4 ? 4 : 2;  // what the registers hold
  const Four* const weights = reinterpret_cast<const Four*>(w);
  Four* const products = reinterpret_cast<Four*>(out);
  for (long i = 0; i < rows * V; ++i) products[i] = Four{};
  for (long begin = 0; begin < cols; begin += kTile) {
    const long end = begin + kTile < cols ? begin + kTile : cols;
    long i = 0;
    for (; i + kRows <= rows; i += kRows)
      tile_products<kRows, V>(x + i, begin, end, weights, products + i * V);
    for (; i < rows; ++i) tile_products<1, V>(x + i, begin, end, weights, products + i * V);
  }
}

template <long V, typename Number>
void add_many_of(const Number* const* x, long rows, long cols, const double* r, double* out) {
  constexpr long kRows = V < 4 ? 4 : 2;
  const Four* const weights = reinterpret_cast<const Four*>(r);
  Four* const sums = reinterpret_cast<Four*>(out);
  for (long begin = 0; begin < cols; begin += kTile) {
    const long end = begin + kTile < cols ? begin + kTile : cols;
    long i = 0;
    for (; i + kRows <= rows; i += kRows) tile_sums<kRows, V>(x + i, begin, end, weights + i * V, sums);
    for (; i < rows; ++i) tile_sums<1, V>(x + i, begin, end, weights + i * V, sums);
  }
}

template <typename Number>
void many_products(const Number* const* x, long rows, long cols, long fours, const double* w, double* out) {
  if (fours == 1) return many_products_of<1>(x, rows, cols, w, out);
  if (fours == 2) return many_products_of<2>(x, rows, cols, w, out);
  if (fours == 3) return many_products_of<3>(x, rows, cols, w, out);
  many_products_of<kMostFours>(x, rows, cols, w, out);
}

template <typename Number>
void add_many(const Number* const* x, long rows, long cols, long fours, const double* r, double* out) {
  if (fours == 1) return add_many_of<1>(x, rows, cols, r, out);
  if (fours == 2) return add_many_of<2>(x, rows, cols, r, out);
  if (fours == 3) return add_many_of<3>(x, rows, cols, r, out);
  add_many_of<kMostFours>(x, rows, cols, r, out);
}

}  // namespace

extern const Kernels YOSIDA_KERNELS;
const Kernels YOSIDA_KERNELS = {{row_products, add_rows, many_products, add_many},
                                {row_products, add_rows, many_products, add_many}};

}  // namespace yosida::linalg
