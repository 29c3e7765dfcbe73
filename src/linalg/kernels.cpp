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

/// The outputs of a row as vectors: eights where registers hold as many numbers, and a four for the rest.
#ifdef __AVX512F__
using Eight = double __attribute__((vector_size(64), aligned(8), may_alias));
constexpr long kRowsOfTile = 8;
template <long V>
struct Outputs {
  static constexpr long kEights = V / 2, kFours = V % 2;
  Eight eights[V / 2 + (V == 1)];
  Four fours[1];
};
#else
using Eight = Four;
constexpr long kRowsOfTile = 4;
template <long V>
struct Outputs {
  static constexpr long kEights = 0, kFours = V;
  Eight eights[1];
  Four fours[V];
};
#endif

template <long V>
void load(const double* from, Outputs<V>& to) {
  using O = Outputs<V>;
  for (long v = 0; v < O::kEights; ++v) to.eights[v] = *reinterpret_cast<const Eight*>(from + 8 * v);
  for (long v = 0; v < O::kFours; ++v)
    to.fours[v] = *reinterpret_cast<const Four*>(from + 8 * O::kEights + 4 * v);
}
template <long V>
void store(const Outputs<V>& from, double* to) {
  using O = Outputs<V>;
  for (long v = 0; v < O::kEights; ++v) *reinterpret_cast<Eight*>(to + 8 * v) = from.eights[v];
  for (long v = 0; v < O::kFours; ++v) *reinterpret_cast<Four*>(to + 8 * O::kEights + 4 * v) = from.fours[v];
}
/// sum += number · w
template <long V>
void add_times(double number, const Outputs<V>& w, Outputs<V>& sum) {
  using O = Outputs<V>;
  for (long v = 0; v < O::kEights; ++v) sum.eights[v] += number * w.eights[v];
  for (long v = 0; v < O::kFours; ++v) sum.fours[v] += number * w.fours[v];
}

/// Products of R rows with 4V outputs: each load of w serves R rows.
template <long R, long V, typename Number>
void tile_products(const Number* const* x, long begin, long end, const double* w, double* out) {
  Outputs<V> sum[R];
  for (long i = 0; i < R; ++i) load(out + 4 * V * i, sum[i]);
  for (long j = begin; j < end; ++j) {
    Outputs<V> weights;
    load(w + 4 * V * j, weights);
    for (long i = 0; i < R; ++i) add_times(static_cast<double>(x[i][j]), weights, sum[i]);
  }
  for (long i = 0; i < R; ++i) store(sum[i], out + 4 * V * i);
}

/// Each load and store of out serves R rows.
template <long R, long V, typename Number>
void tile_sums(const Number* const* x, long begin, long end, const double* r, double* out) {
  Outputs<V> weights[R];
  for (long i = 0; i < R; ++i) load(r + 4 * V * i, weights[i]);
  for (long j = begin; j < end; ++j) {
    Outputs<V> sum;
    load(out + 4 * V * j, sum);
    for (long i = 0; i < R; ++i) add_times(static_cast<double>(x[i][j]), weights[i], sum);
    store(sum, out + 4 * V * j);
  }
}

template <long V, typename Number>
void many_products_of(const Number* const* x, long rows, long cols, const double* w, double* out) {
  for (long i = 0; i < 4 * V * rows; ++i) out[i] = 0.0;
  for (long begin = 0; begin < cols; begin += kTile) {
    const long end = begin + kTile < cols ? begin + kTile : cols;
    long i = 0;
    for (; i + kRowsOfTile <= rows; i += kRowsOfTile)
      tile_products<kRowsOfTile, V>(x + i, begin, end, w, out + 4 * V * i);
    for (; i < rows; ++i) tile_products<1, V>(x + i, begin, end, w, out + 4 * V * i);
  }
}

template <long V, typename Number>
void add_many_of(const Number* const* x, long rows, long cols, const double* r, double* out) {
  for (long begin = 0; begin < cols; begin += kTile) {
    const long end = begin + kTile < cols ? begin + kTile : cols;
    long i = 0;
    for (; i + kRowsOfTile <= rows; i += kRowsOfTile)
      tile_sums<kRowsOfTile, V>(x + i, begin, end, r + 4 * V * i, out);
    for (; i < rows; ++i) tile_sums<1, V>(x + i, begin, end, r + 4 * V * i, out);
  }
}

/// out = weight · factor ∘ (x − shift), rounded
template <typename Number>
void rounded_row(const Number* x, long cols, const double* shift, const double* factor, double weight,
                 float* out) {
#pragma omp simd
  for (long j = 0; j < cols; ++j)
    out[j] = static_cast<float>(weight * factor[j] * (static_cast<double>(x[j]) - shift[j]));
}

/// Rows in fours, as in add_rows; columns in tiles, whose numbers stay in the first-level cache.
template <long R, typename Number>
void look_at_tile(const Number* const* x, long begin, long end, double* low, double* high, double* sum) {
#pragma omp simd
  for (long j = begin; j < end; ++j) {
    double least = low[j], most = high[j], total = sum[j];
    for (long i = 0; i < R; ++i) {
      const double number = x[i][j];
      least = number < least ? number : least;
      most = number > most ? number : most;
      total += number;
    }
    low[j] = least;
    high[j] = most;
    sum[j] = total;
  }
}

template <typename Number>
void look(const Number* const* x, long rows, long cols, double* low, double* high, double* sum) {
  for (long begin = 0; begin < cols; begin += kShortRow) {
    const long end = begin + kShortRow < cols ? begin + kShortRow : cols;
    long i = 0;
    for (; i + 4 <= rows; i += 4) look_at_tile<4>(x + i, begin, end, low, high, sum);
    for (; i < rows; ++i) look_at_tile<1>(x + i, begin, end, low, high, sum);
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
const Kernels YOSIDA_KERNELS = {{row_products, add_rows, many_products, add_many, rounded_row, look},
                                {row_products, add_rows, many_products, add_many, rounded_row, look}};

}  // namespace yosida::linalg
