#include "yosida/linalg/design.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <new>
#include <numeric>

#include "linalg/blas.hpp"
#include "linalg/factor.hpp"
#include "linalg/kernels.hpp"
#include "yosida/linalg/threads.hpp"

namespace yosida {
namespace {

/// A block of rows fits the first-level cache together with w and out for the usual d.
constexpr Index kBlockBytes = Index{16} * 1024;
constexpr Index kMaxBlockRows = 256;
/// With several outputs the products are matrix products: worth their packing only in larger blocks, which
/// stay in the second-level cache between the two.
constexpr Index kMatrixBlockBytes = Index{256} * 1024;
constexpr Index kMinMatrixBlockRows = 16;
/// Designs with more numbers than this are passed over in kChunks pieces, each with its own
/// accumulator, whatever the number of threads: so the sum does not depend on it.
constexpr Index kChunkedSize = Index{1} << 17;
constexpr int kChunks = 8;
/// Below this a pass is over before threads have woken up.
constexpr Index kParallelSize = Index{1} << 20;

Index block_rows(Index cols, Index outputs) {
  if (outputs > 1) {
    const Index fit = kMatrixBlockBytes / (8 * std::max<Index>(cols, 1));
    return std::clamp<Index>(fit / 8 * 8, kMinMatrixBlockRows, kMaxBlockRows);
  }
  const Index fit = kBlockBytes / (8 * std::max<Index>(cols, 1));
  return std::clamp<Index>(fit / 4 * 4, 4, kMaxBlockRows);
}

/// Calls body(begin, end, out) on row ranges and adds up what it returns and what it accumulates.
template <typename Body>
double over_rows(Index rows, Index operations, std::span<double> out, const Body& body) {
  if (operations < kChunkedSize || rows < kChunks) return body(Index{0}, rows, out.data());
  thread_local std::vector<double> accumulators;
  // One cache line between two accumulators keeps threads off each other's lines.
  const std::size_t stride = out.size() + 8;
  accumulators.assign(stride * kChunks, 0.0);
  double* const base = accumulators.data();
  double sums[kChunks];
  const auto pass_over = [&](int chunk) {
    const Index begin = rows * chunk / kChunks;
    const Index end = rows * (chunk + 1) / kChunks;
    sums[chunk] = body(begin, end, base + static_cast<std::size_t>(chunk) * stride);
  };
  const int team = operations < kParallelSize ? 1 : std::min(threads(), kChunks);
  if (team > 1) {
    std::exception_ptr failures[kChunks];  // an exception must not leave its thread (memory that is out)
#pragma omp parallel for num_threads(team) schedule(static)
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      try {
        pass_over(chunk);
      } catch (...) {
        failures[chunk] = std::current_exception();
      }
    }
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
  } else {  // apart, because a team of one still allocates
    for (int chunk = 0; chunk < kChunks; ++chunk) pass_over(chunk);
  }
  double total = 0.0;
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    total += sums[chunk];
    const double* part = base + static_cast<std::size_t>(chunk) * stride;
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += part[j];
  }
  return total;
}

void row_products(const SparseDesign& x, Index begin, Index count, const double* w, Index outputs,
                  double* out) {
  for (Index i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(begin + i);
    const auto from = static_cast<std::size_t>(x.row_start[row]);
    const auto to = static_cast<std::size_t>(x.row_start[row + 1]);
    if (outputs == 1) {
      double sum = 0.0;
      for (std::size_t k = from; k < to; ++k) sum += x.value[k] * w[x.column[k]];
      out[i] = sum;
      continue;
    }
    double* products = out + i * outputs;
    std::fill_n(products, outputs, 0.0);
    for (std::size_t k = from; k < to; ++k) {
      const double* weights = w + x.column[k] * outputs;
      for (Index o = 0; o < outputs; ++o) products[o] += x.value[k] * weights[o];
    }
  }
}

void add_rows(const SparseDesign& x, Index begin, Index count, const double* r, Index outputs, double* out) {
  for (Index i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(begin + i);
    const double* weights = r + i * outputs;
    for (auto k = static_cast<std::size_t>(x.row_start[row]);
         k < static_cast<std::size_t>(x.row_start[row + 1]); ++k) {
      double* sums = out + x.column[k] * outputs;
      for (Index o = 0; o < outputs; ++o) sums[o] += weights[o] * x.value[k];
    }
  }
}

/// With several outputs w is transposed here: see multiply_transposed.
void row_products(const DenseDesign& x, Index begin, Index count, const double* w, Index outputs,
                  double* out) {
  if (outputs == 1) {
    linalg::kernels().row_products(x.row(begin), count, x.cols(), w, out);
  } else {
    linalg::multiply_transposed(x.row(begin), count, x.cols(), w, outputs, out);
  }
}

void add_rows(const double* x, Index count, Index cols, const double* r, Index outputs, double* out) {
  if (outputs == 1) {
    linalg::kernels().add_rows(x, count, cols, r, out);
  } else {
    linalg::add_transposed(x, count, cols, r, outputs, out);
  }
}

void add_rows(const DenseDesign& x, Index begin, Index count, const double* r, Index outputs, double* out) {
  add_rows(x.row(begin), count, x.cols(), r, outputs, out);
}

/// out += Σ r_i over the rows' weights, one sum per output.
void add_sums(Index count, const double* r, Index outputs, double* out) {
  if (outputs == 1) {
    *out += std::accumulate(r, r + count, 0.0);
    return;
  }
  for (Index i = 0; i < count; ++i)
    for (Index o = 0; o < outputs; ++o) out[o] += r[i * outputs + o];
}

Index numbers(const DenseDesign& x) { return x.rows() * x.cols(); }
Index numbers(const SparseDesign& x) { return static_cast<Index>(x.value.size()); }

Index block_rows(const DenseDesign& x, Index outputs) { return block_rows(x.cols(), outputs); }
Index block_rows(const SparseDesign& x, Index outputs) {
  // A value and its column index.
  return block_rows(2 * numbers(x) / std::max<Index>(x.rows(), 1), outputs);
}

/// w as row_products wants it, in `scratch` where that is not as it is.
const double* arranged(const SparseDesign&, std::span<const double> w, Index, std::vector<double>&) {
  return w.data();
}
const double* arranged(const DenseDesign& x, std::span<const double> w, Index outputs,
                       std::vector<double>& scratch) {
  if (outputs == 1) return w.data();
  scratch.resize(static_cast<std::size_t>(x.cols() * outputs));
  Eigen::Map<Matrix>(scratch.data(), outputs, x.cols()) =
      Eigen::Map<const Matrix>(w.data(), x.cols(), outputs).transpose();
  return scratch.data();
}

/// The rows' products with one w, intercepts included where w holds them.
struct Factor {
  std::span<const double> w;
  Index outputs;
  const double* matrix;  // w, arranged

  template <typename Rows>
  Factor(const Rows& x, std::span<const double> w_, Index outputs_, std::vector<double>& scratch)
      : w(w_), outputs(outputs_), matrix(arranged(x, w_, outputs_, scratch)) {}

  template <typename Rows>
  void products(const Rows& x, Index begin, Index count, double* out) const {
    row_products(x, begin, count, matrix, outputs, out);
    if (!holds_intercepts(x, w.size(), outputs)) return;
    const double* b = w.data() + x.cols() * outputs;
    for (Index i = 0; i < count; ++i)
      for (Index o = 0; o < outputs; ++o) out[i * outputs + o] += b[o];
  }
  template <typename Rows>
  static bool holds_intercepts(const Rows& x, std::size_t size, Index outputs) {
    return static_cast<Index>(size) > x.cols() * outputs;
  }
};

/// The one loop behind every pass: map(first, count, products) on blocks of rows, `factors` products each,
/// one array behind the other; then, where there is an `out`, Σ r_i x_i with the first array as r.
template <typename Rows, std::size_t N, typename Map>
double pass(const Rows& x, const Factor (&factors)[N], const Map& map, std::span<double> out, Index outputs) {
  const Index block = block_rows(x, outputs);
  const bool with_sums = Factor::holds_intercepts(x, out.size(), outputs);
  return over_rows(x.rows(), numbers(x) * outputs, out, [&](Index begin, Index end, double* sum) {
    thread_local std::vector<double> scratch;
    const Index size = block * outputs;
    scratch.resize(static_cast<std::size_t>(size) * N);
    double total = 0.0;
    for (Index i = begin; i < end; i += block) {
      const Index count = std::min(block, end - i);
      for (std::size_t f = 0; f < N; ++f)
        factors[f].products(x, i, count, scratch.data() + f * static_cast<std::size_t>(size));
      total += map(i, static_cast<std::size_t>(count * outputs), scratch.data(), scratch.data() + size);
      if (out.empty()) continue;
      add_rows(x, i, count, scratch.data(), outputs, sum);
      if (with_sums) add_sums(count, scratch.data(), outputs, sum + x.cols() * outputs);
    }
    return total;
  });
}

std::shared_ptr<double> aligned_buffer(Index count) {
  const std::size_t bytes =
      (static_cast<std::size_t>(std::max<Index>(count, 1)) * sizeof(double) + 63) / 64 * 64;
  auto* memory = static_cast<double*>(std::aligned_alloc(64, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, [](double* p) { std::free(p); }};
}

}  // namespace

DenseDesign::DenseDesign(Index rows, Index cols) : DenseDesign(aligned_buffer(rows * cols), rows, cols) {}

DenseDesign::DenseDesign(const Matrix& values) : DenseDesign(values.rows(), values.cols()) {
  matrix() = values;
}

DenseDesign::DenseDesign(std::shared_ptr<double> buffer, Index rows, Index cols)
    : buffer_(std::move(buffer)), data_(buffer_.get()), rows_(rows), cols_(cols) {}

DenseDesign DenseDesign::row_range(Index begin, Index count) const {
  DenseDesign range = *this;
  range.data_ = data_ + begin * cols_;
  range.rows_ = count;
  return range;
}

bool DenseDesign::adjoins(const DenseDesign& next) const {
  return buffer_ && buffer_ == next.buffer_ && cols_ == next.cols_ && data_ + rows_ * cols_ == next.data_;
}

DenseDesign DenseDesign::joined(const DenseDesign& next) const { return row_range(0, rows_ + next.rows_); }

DenseDesign DenseDesign::unshared() const {
  if (buffer_.use_count() <= 1) return *this;
  DenseDesign copy(rows_, cols_);
  copy.matrix() = matrix();
  return copy;
}

DenseDesign DenseDesign::narrowed(Index cols) const {
  DenseDesign narrow = *this;
  narrow.cols_ = cols;
  return narrow;
}

Index Design::rows() const {
  return std::visit([](const auto& x) { return x.rows(); }, storage_);
}

Index Design::cols() const {
  return std::visit([](const auto& x) { return x.cols(); }, storage_);
}

double Design::product_flops() const {
  return std::visit([](const auto& x) { return 2.0 * static_cast<double>(numbers(x)); }, storage_);
}

void Design::multiply(std::span<const double> w, std::span<double> out, Index outputs) const {
  product_pass(
      w,
      [&](Index first, std::span<double> products) {
        std::copy(products.begin(), products.end(), out.begin() + first * outputs);
        return 0.0;
      },
      outputs);
}

void Design::add_transposed(std::span<const double> r, std::span<double> out, Index outputs) const {
  std::visit(
      [&](const auto& x) {
        const bool with_sums = Factor::holds_intercepts(x, out.size(), outputs);
        over_rows(x.rows(), numbers(x) * outputs, out, [&](Index begin, Index end, double* sum) {
          const double* weights = r.data() + begin * outputs;
          add_rows(x, begin, end - begin, weights, outputs, sum);
          if (with_sums) add_sums(end - begin, weights, outputs, sum + x.cols() * outputs);
          return 0.0;
        });
      },
      storage_);
}

void Design::add_transposed_squares(std::span<const double> r, std::span<double> out, Index outputs) const {
  const auto add_range = [&](Index begin, Index end, double* sum) {
    if (is_sparse()) {
      const SparseDesign& x = sparse();
      for (Index i = begin; i < end; ++i) {
        const auto row = static_cast<std::size_t>(i);
        for (auto k = static_cast<std::size_t>(x.row_start[row]);
             k < static_cast<std::size_t>(x.row_start[row + 1]); ++k)
          for (Index o = 0; o < outputs; ++o)
            sum[x.column[k] * outputs + o] +=
                r[static_cast<std::size_t>(i * outputs + o)] * x.value[k] * x.value[k];
      }
    } else {
      const DenseDesign& x = dense();
      const Index block = block_rows(x, outputs);
      thread_local std::vector<double> squares;
      squares.resize(static_cast<std::size_t>(block * x.cols()));
      for (Index i = begin; i < end; i += block) {
        const Index count = std::min(block, end - i);
        std::transform(x.row(i), x.row(i) + count * x.cols(), squares.begin(),
                       [](double value) { return value * value; });
        add_rows(squares.data(), count, x.cols(), r.data() + i * outputs, outputs, sum);
      }
    }
    if (static_cast<Index>(out.size()) > cols() * outputs)
      add_sums(end - begin, r.data() + begin * outputs, outputs, sum + cols() * outputs);
    return 0.0;
  };
  const auto operations = static_cast<Index>(0.5 * product_flops()) * outputs;
  over_rows(rows(), operations, out, add_range);
}

double Design::fused_pass(std::span<const double> w, RowBlock map, std::span<double> out,
                          Index outputs) const {
  return std::visit(
      [&](const auto& x) {
        thread_local std::vector<double> scratch;
        const Factor factors[] = {{x, w, outputs, scratch}};
        const auto call = [&](Index first, std::size_t size, double* products, const double*) {
          return map(first, {products, size});
        };
        return pass(x, factors, call, out, outputs);
      },
      storage_);
}

double Design::product_pass(std::span<const double> w, RowBlock map, Index outputs) const {
  return fused_pass(w, map, {}, outputs);
}

double Design::fused_pass2(std::span<const double> w, std::span<const double> p, RowBlock2 map,
                           std::span<double> out, Index outputs) const {
  return std::visit(
      [&](const auto& x) {
        thread_local std::vector<double> scratch_w, scratch_p;
        const Factor factors[] = {{x, w, outputs, scratch_w}, {x, p, outputs, scratch_p}};
        const auto call = [&](Index first, std::size_t size, double* products, const double* second) {
          return map(first, {products, size}, {second, size});
        };
        return pass(x, factors, call, out, outputs);
      },
      storage_);
}

double Design::product_pass2(std::span<const double> w, std::span<const double> p, RowBlock2 map,
                             Index outputs) const {
  return fused_pass2(w, p, map, {}, outputs);
}

Matrix Design::weighted_gram(std::span<const double> weight, const StopToken* stop) const {
  const Index d = cols();
  Matrix gram = Matrix::Zero(d, d);
  if (is_sparse()) {
    const SparseDesign& x = sparse();
    for (std::size_t i = 0; i < weight.size(); ++i) {
      const auto begin = static_cast<std::size_t>(x.row_start[i]);
      const auto end = static_cast<std::size_t>(x.row_start[i + 1]);
      for (std::size_t a = begin; a < end; ++a)
        for (std::size_t b = begin; b <= a; ++b)
          gram(x.column[a], x.column[b]) += weight[i] * x.value[a] * x.value[b];
    }
  } else {
    // Blocks of weighted rows √h_i x_i: the copy stays small however large the design is.
    const Index block = std::clamp<Index>((Index{1} << 20) / std::max<Index>(d, 1), 16, 4096);
    Matrix scaled(std::min(block, rows()), d);
    for (Index i = 0; i < rows() && !stop_requested(stop); i += block) {
      const Index count = std::min(block, rows() - i);
      for (Index k = 0; k < count; ++k)
        scaled.row(k) = std::sqrt(weight[static_cast<std::size_t>(i + k)]) * dense().matrix().row(i + k);
      add_gram(scaled.topRows(count), gram);
    }
  }
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  return gram;
}

Design stack_rows(const Design& upper, const Design& lower) {
  if (!upper.is_sparse() && !lower.is_sparse()) {
    if (upper.dense().adjoins(lower.dense())) return upper.dense().joined(lower.dense());
    DenseDesign both(upper.rows() + lower.rows(), upper.cols());
    both.matrix().topRows(upper.rows()) = upper.dense().matrix();
    both.matrix().bottomRows(lower.rows()) = lower.dense().matrix();
    return both;
  }
  SparseDesign both = upper.sparse();
  const SparseDesign& next = lower.sparse();
  both.column.insert(both.column.end(), next.column.begin(), next.column.end());
  both.value.insert(both.value.end(), next.value.begin(), next.value.end());
  const std::int64_t offset = both.row_start.back();
  for (std::size_t i = 1; i < next.row_start.size(); ++i)
    both.row_start.push_back(offset + next.row_start[i]);
  return both;
}

Design to_dense(const Design& design) {
  if (!design.is_sparse()) return design;
  const SparseDesign& x = design.sparse();
  DenseDesign dense(x.rows(), x.cols());
  dense.matrix().setZero();
  for (std::size_t i = 0; i + 1 < x.row_start.size(); ++i)
    for (auto k = static_cast<std::size_t>(x.row_start[i]); k < static_cast<std::size_t>(x.row_start[i + 1]);
         ++k)
      dense.row(static_cast<Index>(i))[x.column[k]] = x.value[k];
  return dense;
}

}  // namespace yosida
