#include "yosida/linalg/design.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <numeric>

#include "linalg/kernels.hpp"
#include "yosida/linalg/factor.hpp"
#include "yosida/linalg/threads.hpp"

namespace yosida {
namespace {

/// A block of rows fits the first-level cache together with w and out for the usual d.
constexpr Index kBlockBytes = Index{16} * 1024;
constexpr Index kMaxBlockRows = 256;
/// Designs with more numbers than this are passed over in kChunks pieces, each with its own
/// accumulator, whatever the number of threads: so the sum does not depend on it.
constexpr Index kChunkedSize = Index{1} << 17;
constexpr int kChunks = 8;
/// Below this a pass is over before threads have woken up.
constexpr Index kParallelSize = Index{1} << 20;

Index block_rows(Index cols) {
  const Index fit = kBlockBytes / (8 * std::max<Index>(cols, 1));
  return std::clamp<Index>(fit / 4 * 4, 4, kMaxBlockRows);
}

/// Calls body(begin, end, out) on row ranges and adds up what it returns and what it accumulates.
template <typename Body>
PassSums over_rows(Index rows, Index numbers, std::span<double> out, const Body& body) {
  if (numbers < kChunkedSize || rows < kChunks) return body(Index{0}, rows, out.data());
  thread_local std::vector<double> accumulators;
  // One cache line between two accumulators keeps threads off each other's lines.
  const std::size_t stride = out.size() + 8;
  accumulators.assign(stride * kChunks, 0.0);
  double* const base = accumulators.data();
  PassSums sums[kChunks];
  const auto pass_over = [&](int chunk) {
    const Index begin = rows * chunk / kChunks;
    const Index end = rows * (chunk + 1) / kChunks;
    sums[chunk] = body(begin, end, base + static_cast<std::size_t>(chunk) * stride);
  };
  const int team = numbers < kParallelSize ? 1 : std::min(threads(), kChunks);
  if (team > 1) {
#pragma omp parallel for num_threads(team) schedule(static)
    for (int chunk = 0; chunk < kChunks; ++chunk) pass_over(chunk);
  } else {  // apart, because a team of one still allocates
    for (int chunk = 0; chunk < kChunks; ++chunk) pass_over(chunk);
  }
  PassSums total;
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    total.value += sums[chunk].value;
    total.weights += sums[chunk].weights;
    const double* part = base + static_cast<std::size_t>(chunk) * stride;
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += part[j];
  }
  return total;
}

void row_products(const SparseDesign& x, Index begin, Index count, const double* w, double* out) {
  for (Index i = 0; i < count; ++i) {
    double sum = 0.0;
    const auto row = static_cast<std::size_t>(begin + i);
    for (auto k = static_cast<std::size_t>(x.row_start[row]);
         k < static_cast<std::size_t>(x.row_start[row + 1]); ++k)
      sum += x.value[k] * w[x.column[k]];
    out[i] = sum;
  }
}

void add_rows(const SparseDesign& x, Index begin, Index count, const double* r, double* out) {
  for (Index i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(begin + i);
    for (auto k = static_cast<std::size_t>(x.row_start[row]);
         k < static_cast<std::size_t>(x.row_start[row + 1]); ++k)
      out[x.column[k]] += r[i] * x.value[k];
  }
}

void row_products(const DenseDesign& x, Index begin, Index count, const double* w, double* out) {
  linalg::kernels().row_products(x.row(begin), count, x.cols(), w, out);
}

void add_rows(const DenseDesign& x, Index begin, Index count, const double* r, double* out) {
  linalg::kernels().add_rows(x.row(begin), count, x.cols(), r, out);
}

Index numbers(const DenseDesign& x) { return x.rows() * x.cols(); }
Index numbers(const SparseDesign& x) { return static_cast<Index>(x.value.size()); }

Index block_rows(const DenseDesign& x) { return block_rows(x.cols()); }
Index block_rows(const SparseDesign& x) {
  return block_rows(2 * numbers(x) / std::max<Index>(x.rows(), 1));  // a value and its column index
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

void Design::multiply(std::span<const double> w, std::span<double> out) const {
  product_pass(w, [&](Index first, std::span<double> products) {
    std::copy(products.begin(), products.end(), out.begin() + first);
    return 0.0;
  });
}

void Design::add_transposed(std::span<const double> r, std::span<double> out) const {
  std::visit(
      [&](const auto& x) {
        over_rows(x.rows(), numbers(x), out, [&](Index begin, Index end, double* sum) {
          add_rows(x, begin, end - begin, r.data() + begin, sum);
          return PassSums{};
        });
      },
      storage_);
}

PassSums Design::fused_pass(std::span<const double> w, RowBlock map, std::span<double> out) const {
  return std::visit(
      [&](const auto& x) {
        const Index block = block_rows(x);
        return over_rows(x.rows(), numbers(x), out, [&](Index begin, Index end, double* sum) {
          double products[kMaxBlockRows];
          PassSums total;
          for (Index i = begin; i < end; i += block) {
            const Index count = std::min(block, end - i);
            row_products(x, i, count, w.data(), products);
            total.value += map(i, {products, static_cast<std::size_t>(count)});
            total.weights += std::accumulate(products, products + count, 0.0);
            add_rows(x, i, count, products, sum);
          }
          return total;
        });
      },
      storage_);
}

double Design::product_pass(std::span<const double> w, RowBlock map) const {
  return std::visit(
      [&](const auto& x) {
        const Index block = block_rows(x);
        return over_rows(x.rows(), numbers(x), {},
                         [&](Index begin, Index end, double*) {
                           double products[kMaxBlockRows];
                           double total = 0.0;
                           for (Index i = begin; i < end; i += block) {
                             const Index count = std::min(block, end - i);
                             row_products(x, i, count, w.data(), products);
                             total += map(i, {products, static_cast<std::size_t>(count)});
                           }
                           return PassSums{.value = total};
                         })
            .value;
      },
      storage_);
}

PassSums Design::fused_pass2(std::span<const double> w, std::span<const double> p, RowBlock2 map,
                             std::span<double> out) const {
  return std::visit(
      [&](const auto& x) {
        const Index block = block_rows(x);
        return over_rows(x.rows(), numbers(x), out, [&](Index begin, Index end, double* sum) {
          double products[kMaxBlockRows];
          PassSums total;
          double second[kMaxBlockRows];
          for (Index i = begin; i < end; i += block) {
            const Index count = std::min(block, end - i);
            const auto size = static_cast<std::size_t>(count);
            row_products(x, i, count, w.data(), products);
            row_products(x, i, count, p.data(), second);
            total.value += map(i, {products, size}, {second, size});
            total.weights += std::accumulate(products, products + count, 0.0);
            add_rows(x, i, count, products, sum);
          }
          return total;
        });
      },
      storage_);
}

Matrix Design::weighted_gram(std::span<const double> weight) const {
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
    for (Index i = 0; i < rows(); i += block) {
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
