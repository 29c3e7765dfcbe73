#include <algorithm>
#include <numeric>

#include "linalg/blas.hpp"
#include "linalg/kernels.hpp"
#include "linalg/over_rows.hpp"
#include "linalg/rows.hpp"
#include "yosida/linalg/design.hpp"

namespace yosida {
namespace {

using linalg::ColumnMap;
using linalg::over_rows;
using linalg::RowsOf;
using linalg::SparseRow;

/// A block of rows fits the first-level cache together with w and out for the usual d.
constexpr Index kBlockBytes = Index{16} * 1024;
constexpr Index kMaxBlockRows = 256;
/// With several outputs the products are matrix products: worth their packing only in larger blocks, which
/// stay in the second-level cache between the two.
constexpr Index kMatrixBlockBytes = Index{256} * 1024;
constexpr Index kMinMatrixBlockRows = 16;
/// What a loss and its derivatives cost for one number, in operations of a product.
constexpr Index kOperationsOfLoss = 16;

Index block_rows(Index numbers_of_row, Index outputs) {
  if (outputs > 1) {
    const Index fit = kMatrixBlockBytes / (8 * std::max<Index>(numbers_of_row, 1));
    return std::clamp<Index>(fit / 8 * 8, kMinMatrixBlockRows, kMaxBlockRows);
  }
  const Index fit = kBlockBytes / (8 * std::max<Index>(numbers_of_row, 1));
  return std::clamp<Index>(fit / 4 * 4, 4, kMaxBlockRows);
}
/// A block has as many rows of single numbers as of double ones: the same numbers give the same sums.
template <typename Number>
Index block_rows(const RowsOf<const Number*>& x, Index outputs) {
  return block_rows(x.cols(), outputs);
}
Index block_rows(const RowsOf<SparseRow>& x, Index outputs) {
  // A value and its column index.
  return block_rows(2 * x.numbers() / std::max<Index>(x.rows(), 1), outputs);
}

/// Asks for `bytes` of memory that will be read soon.
void call_for(const void* memory, Index bytes) {
  constexpr Index kLine = 64;
  for (Index at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(memory) + at, 0, 2);
}
/// The processor itself fetches longer rows ahead.
constexpr Index kMostCalled = 1024;
template <typename Number>
void call_for(const Number* row, const RowsOf<const Number*>& x) {
  call_for(row, std::min<Index>(x.cols() * Index{sizeof(Number)}, kMostCalled));
}
void call_for(const SparseRow& row, const RowsOf<SparseRow>&) {
  call_for(row.value, std::min<Index>(row.size * Index{sizeof(double)}, kMostCalled));
  call_for(row.column, std::min<Index>(row.size * Index{sizeof(std::int32_t)}, kMostCalled));
}

/// Rows [begin, begin + count), which come next, where they do not lie one behind the other: short rows in
/// random order are waited for longer than they are worked on.
template <typename Row>
void call_for(const RowsOf<Row>& x, Index begin, Index count) {
  if (!x.is_scattered()) return;
  Row rows[kMaxBlockRows];
  x.fetch(begin, count, rows);
  for (Index i = 0; i < count; ++i) call_for(rows[i], x);
}

/// Rows that a pass works on at a time.
template <typename Row>
class Block;

template <>
class Block<SparseRow> {
 public:
  Block(const RowsOf<SparseRow>& x, Index outputs) : x_(x), outputs_(outputs) {}
  void read(Index begin, Index count) {
    count_ = count;
    x_.fetch(begin, count, rows_);
  }
  void products(const double* w, double* out) const {
    for (Index i = 0; i < count_; ++i) {
      const auto [column, value, size] = rows_[i];
      if (outputs_ == 1) {
        double sum = 0.0;
        for (Index k = 0; k < size; ++k) sum += value[k] * w[column[k]];
        out[i] = sum;
        continue;
      }
      double* products = out + i * outputs_;
      std::fill_n(products, outputs_, 0.0);
      for (Index k = 0; k < size; ++k) {
        const double* weights = w + column[k] * outputs_;
        for (Index o = 0; o < outputs_; ++o) products[o] += value[k] * weights[o];
      }
    }
  }
  void add(const double* r, double* out) const {
    for (Index i = 0; i < count_; ++i) {
      const auto [column, value, size] = rows_[i];
      const double* weights = r + i * outputs_;
      for (Index k = 0; k < size; ++k) {
        double* sums = out + column[k] * outputs_;
        for (Index o = 0; o < outputs_; ++o) sums[o] += weights[o] * value[k];
      }
    }
  }
  void finish(double*) const {}

 private:
  const RowsOf<SparseRow>& x_;
  Index outputs_;
  Index count_ = 0;
  SparseRow rows_[kMaxBlockRows];
};

using linalg::kernels_of;

/// A few outputs have kernels of their own; numbers of theirs are padded with zeros to a multiple of four.
constexpr bool is_few(Index outputs) { return outputs > 1 && outputs <= 4 * linalg::kMostFours; }
constexpr Index fours_of(Index outputs) { return (outputs + 3) / 4; }
constexpr Index padded(Index outputs) { return 4 * fours_of(outputs); }

/// `count` groups of `outputs` numbers with as many zeros behind each as make their number a multiple of
/// four.
const double* pad(const double* numbers, Index count, Index outputs, std::vector<double>& place) {
  const Index width = padded(outputs);
  if (width == outputs) return numbers;
  place.assign(static_cast<std::size_t>(count * width), 0.0);
  for (Index i = 0; i < count; ++i) std::copy_n(numbers + i * outputs, outputs, place.data() + i * width);
  return place.data();
}

/// With many outputs by BLAS, which wants doubles, rows one behind the other: others are copied to a place
/// of a fixed size. So the products are the same wherever rows lie.
template <typename Number>
class Block<const Number*> {
 public:
  Block(const RowsOf<const Number*>& x, Index outputs) : x_(x), outputs_(outputs) {}
  void read(Index begin, Index count) {
    count_ = count;
    x_.fetch(begin, count, rows_);
    if (outputs_ > 1 && !is_few(outputs_)) matrix_ = joined();
  }
  /// w as Factor arranges it.
  void products(const double* w, double* out) const {
    if (outputs_ == 1) {
      kernels_of(rows_[0]).row_products(rows_, count_, x_.cols(), w, out);
    } else if (is_few(outputs_)) {
      thread_local std::vector<double> scratch;
      const Index width = padded(outputs_);
      scratch.resize(static_cast<std::size_t>(count_ * width));
      kernels_of(rows_[0]).many_products(rows_, count_, x_.cols(), fours_of(outputs_), w, scratch.data());
      for (Index i = 0; i < count_; ++i)
        std::copy_n(scratch.data() + i * width, outputs_, out + i * outputs_);
    } else {
      linalg::multiply_transposed(matrix_, count_, x_.cols(), w, outputs_, out);
    }
  }
  void add(const double* r, double* out) {
    if (outputs_ == 1) {
      kernels_of(rows_[0]).add_rows(rows_, count_, x_.cols(), r, out);
    } else if (is_few(outputs_)) {
      thread_local std::vector<double> scratch;
      sums_.resize(static_cast<std::size_t>(x_.cols() * padded(outputs_)));
      kernels_of(rows_[0]).add_many(rows_, count_, x_.cols(), fours_of(outputs_),
                                    pad(r, count_, outputs_, scratch), sums_.data());
    } else {
      linalg::add_transposed(matrix_, count_, x_.cols(), r, outputs_, out);
    }
  }
  /// Adds what add() has kept to itself, after the last block.
  void finish(double* out) const {
    const Index width = padded(outputs_);
    for (Index j = 0; j < x_.cols() && !sums_.empty(); ++j)
      for (Index o = 0; o < outputs_; ++o)
        out[j * outputs_ + o] += sums_[static_cast<std::size_t>(j * width + o)];
  }

 private:
  /// Each thread has one block at a time and keeps this buffer, so that a pass allocates nothing.
  static std::vector<double>& place_of_sums() {
    thread_local std::vector<double> place;
    place.clear();
    return place;
  }
  const double* joined() const {
    const Index cols = x_.cols();
    if constexpr (std::is_same_v<Number, double>) {
      bool adjoin = true;
      for (Index i = 1; i < count_ && adjoin; ++i) adjoin = rows_[i] == rows_[i - 1] + cols;
      if (adjoin) return rows_[0];
    }
    thread_local std::vector<double> scratch;
    scratch.resize(static_cast<std::size_t>(count_ * cols));
    for (Index i = 0; i < count_; ++i) std::copy_n(rows_[i], cols, scratch.data() + i * cols);
    return scratch.data();
  }

  const RowsOf<const Number*>& x_;
  Index outputs_;
  Index count_ = 0;
  const Number* rows_[kMaxBlockRows];
  const double* matrix_ = nullptr;
  std::vector<double>& sums_ = place_of_sums();  // of a few outputs, padded
};

/// out += Σ r_i over the rows' weights, one sum per output.
void add_sums(Index count, const double* r, Index outputs, double* out) {
  if (outputs == 1) {
    *out += std::accumulate(r, r + count, 0.0);
    return;
  }
  for (Index i = 0; i < count; ++i)
    for (Index o = 0; o < outputs; ++o) out[o] += r[i * outputs + o];
}

bool holds_intercepts(const Design& x, std::size_t size, Index outputs) {
  return static_cast<Index>(size) > x.cols() * outputs;
}

/// One w as the rows want it: of the columns that are stored, arranged for their kind, and what is added to
/// each product.
class Factor {
 public:
  struct Scratch {
    std::vector<double> weights, offset, arranged;
  };

  Factor(const Design& x, std::span<const double> w, Index outputs, Scratch& scratch) : outputs_(outputs) {
    const ColumnMap map = linalg::Access::map(x);
    const double* const intercepts =
        holds_intercepts(x, w.size(), outputs) ? w.data() + x.cols() * outputs : nullptr;
    weights_ = w.data();
    offset_ = intercepts;
    if (!map.is_identity()) {
      scratch.offset.assign(static_cast<std::size_t>(outputs), 0.0);
      map.pull(w.first(static_cast<std::size_t>(x.cols() * outputs)), outputs, scratch.weights,
               scratch.offset.data());
      if (intercepts != nullptr)
        for (Index o = 0; o < outputs; ++o) scratch.offset[static_cast<std::size_t>(o)] += intercepts[o];
      weights_ = scratch.weights.data();
      offset_ = scratch.offset.data();
    }
    if (linalg::Access::storage(x).is_sparse || outputs == 1) return;
    if (is_few(outputs)) {
      weights_ = pad(weights_, linalg::Access::storage(x).cols, outputs, scratch.arranged);
    } else {
      const Index cols = linalg::Access::storage(x).cols;
      scratch.arranged.resize(static_cast<std::size_t>(cols * outputs));
      Eigen::Map<Matrix>(scratch.arranged.data(), outputs, cols) =
          Eigen::Map<const Matrix>(weights_, cols, outputs).transpose();
      weights_ = scratch.arranged.data();
    }
  }

  template <typename Row>
  void products(const Block<Row>& block, Index count, double* out) const {
    block.products(weights_, out);
    if (offset_ == nullptr) return;
    for (Index i = 0; i < count; ++i)
      for (Index o = 0; o < outputs_; ++o) out[i * outputs_ + o] += offset_[o];
  }

 private:
  Index outputs_;
  const double* weights_;
  const double* offset_;
};

/// Where Σ r_i x_i is added up: in `out` itself, or over the columns that are stored, with Σ r_i behind them,
/// until finish() has taken them through the steps.
class Sums {
 public:
  Sums(const Design& x, std::span<double> out, Index outputs)
      : map_(linalg::Access::map(x)), stored_(linalg::Access::storage(x).cols), out_(out), outputs_(outputs) {
    has_intercepts_ = holds_intercepts(x, out.size(), outputs);
    place_ = out;
    if (out.empty() || map_.is_identity()) return;
    thread_local std::vector<double> scratch;
    scratch.assign(static_cast<std::size_t>((stored_ + 1) * outputs), 0.0);
    place_ = scratch;
  }
  std::span<double> place() const { return place_; }
  bool wants_rows() const { return !out_.empty(); }
  /// Says where Σ r_i belongs in the result; null where nobody wants it.
  bool wants_sums() const { return wants_rows() && (has_intercepts_ || !map_.is_identity()); }
  Index sums_at() const { return stored_ * outputs_; }
  void finish() const {
    if (out_.empty() || map_.is_identity()) return;
    const double* const row_sums = place_.data() + sums_at();
    const Index size = map_.push(place_.data(), stored_, row_sums, outputs_) * outputs_;
    for (Index i = 0; i < size; ++i) out_[static_cast<std::size_t>(i)] += place_[static_cast<std::size_t>(i)];
    for (Index o = 0; has_intercepts_ && o < outputs_; ++o)
      out_[static_cast<std::size_t>(size + o)] += row_sums[o];
  }

 private:
  ColumnMap map_;
  Index stored_;
  std::span<double> out_, place_;
  Index outputs_;
  bool has_intercepts_;
};

/// An entry of a sparse row is looked up by its column: it takes as long as so many numbers of a dense row.
constexpr Index kWeightOfEntry = 4;
template <typename Row>
constexpr Index weight_of(const RowsOf<Row>&) {
  return std::is_same_v<Row, SparseRow> ? kWeightOfEntry : 1;
}

/// Whether sums over rows are added up range by range of the columns, and not of the rows: sums for each
/// range of rows would be more numbers than there are entries to add.
template <typename Row>
bool adds_by_columns(const RowsOf<Row>&, std::size_t, Index) {
  return false;
}
bool adds_by_columns(const RowsOf<SparseRow>& x, std::size_t sums, Index outputs) {
  const Index operations = x.numbers() * outputs;
  const Index blocks = linalg::blocks_of_pass(x.rows(), operations);
  return blocks > 1 && static_cast<Index>(sums) > operations / blocks;
}

/// The columns at which to cut the entries into `parts` about equal parts, by those of a sample; then the
/// number of columns.
void cut_columns(const RowsOf<SparseRow>& x, Index parts, std::vector<std::int32_t>& cuts) {
  constexpr Index kSample = 512;
  thread_local std::vector<std::int32_t> sample;
  sample.clear();
  const Index rows = std::min<Index>(x.rows(), kSample);
  for (Index i = 0; i < rows; ++i) {
    const SparseRow row = x.row(x.rows() * i / rows);
    for (Index k = i % 8; k < row.size; k += std::max<Index>(row.size / 8, 1))
      sample.push_back(row.column[k]);
  }
  std::sort(sample.begin(), sample.end());
  cuts.assign(static_cast<std::size_t>(parts) + 1, 0);
  for (Index part = 1; part < parts && !sample.empty(); ++part)
    cuts[static_cast<std::size_t>(part)] =
        sample[sample.size() * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts)];
  cuts.back() = static_cast<std::int32_t>(x.cols());
}

/// Calls body(i, entries) for row after row with its entries in a range of columns, for all ranges at the
/// same time. What is summed by column comes in the order of the rows, so that it does not depend on the
/// ranges.
template <typename Body>
void over_columns(const RowsOf<SparseRow>& x, Index outputs, const Body& body) {
  constexpr Index kMostParts = 8;
  const Index operations = kWeightOfEntry * x.numbers() * outputs;
  const Index parts = linalg::team_size(kMostParts, operations);
  thread_local std::vector<std::int32_t> cuts;
  cut_columns(x, parts, cuts);
  const std::int32_t* const cut = cuts.data();  // of this thread, whichever asks
  linalg::run_tasks(parts, operations, [&, cut](Index part) {
    for (Index i = 0; i < x.rows(); ++i) {
      const SparseRow row = x.row(i);
      const std::int32_t* const end = row.column + row.size;
      const std::int32_t* const from = part == 0 ? row.column : std::lower_bound(row.column, end, cut[part]);
      const std::int32_t* const to = part + 1 == parts ? end : std::lower_bound(from, end, cut[part + 1]);
      body(i, SparseRow{from, row.value + (from - row.column), to - from});
    }
  });
}

/// out += Σ r_i x_i, range by range of the columns.
void add_columns(const RowsOf<SparseRow>& x, const double* r, Index outputs, double* out) {
  over_columns(x, outputs, [&](Index i, const SparseRow& row) {
    const double* const weights = r + i * outputs;
    for (Index k = 0; k < row.size; ++k) {
      double* const sums = out + row.column[k] * outputs;
      for (Index o = 0; o < outputs; ++o) sums[o] += weights[o] * row.value[k];
    }
  });
}
template <typename Row>
void add_columns(const RowsOf<Row>&, const double*, Index, double*) {}

/// The one loop behind every pass: map(first, count, products) on blocks of rows, `factors` products each,
/// one array behind the other; then, where there is an `out`, Σ r_i x_i with the first array as r.
template <typename Row, std::size_t N, typename Map>
double pass(const RowsOf<Row>& x, const Factor (&factors)[N], const Map& map, const Sums& sums,
            Index outputs) {
  const Index block_size = block_rows(x, outputs);
  const bool by_columns = sums.wants_rows() && adds_by_columns(x, sums.place().size(), outputs);
  thread_local std::vector<double> kept;
  if (by_columns) kept.resize(static_cast<std::size_t>(x.rows() * outputs));
  double* const weights = by_columns ? kept.data() : nullptr;
  const std::span<double> place = by_columns ? std::span<double>() : sums.place();
  const double all = over_rows(
      x.rows(), x.numbers() * outputs, place,
      [&](Index begin, Index end, double* sum) {
        thread_local std::vector<double> scratch;
        const Index size = block_size * outputs;
        scratch.resize(static_cast<std::size_t>(size) * N);
        Block<Row> block(x, outputs);
        double total = 0.0;
        for (Index i = begin; i < end; i += block_size) {
          const Index count = std::min(block_size, end - i);
          block.read(i, count);
          call_for(x, i + count, std::min(block_size, end - i - count));
          for (std::size_t f = 0; f < N; ++f)
            factors[f].products(block, count, scratch.data() + f * static_cast<std::size_t>(size));
          total += map(i, static_cast<std::size_t>(count * outputs), scratch.data(), scratch.data() + size);
          if (by_columns) std::copy_n(scratch.data(), count * outputs, weights + i * outputs);
          if (by_columns || !sums.wants_rows()) continue;
          block.add(scratch.data(), sum);
          if (sums.wants_sums()) add_sums(count, scratch.data(), outputs, sum + sums.sums_at());
        }
        if (!by_columns && sums.wants_rows()) block.finish(sum);
        return total;
      },
      weight_of(x));
  if (by_columns) {
    linalg::gather_rows(x.rows(), outputs, weights);
    add_columns(x, weights, outputs, sums.place().data());
    if (sums.wants_sums()) add_sums(x.rows(), weights, outputs, sums.place().data() + sums.sums_at());
  }
  return all;
}

/// Adds r_i x_i² of a stored row to out, and r_i x_i to first where that is not null.
void add_sparse_squares(const SparseRow& row, const double* r, Index outputs, double* out, double* first) {
  for (Index k = 0; k < row.size; ++k)
    for (Index o = 0; o < outputs; ++o) {
      const Index at = row.column[k] * outputs + o;
      out[at] += r[o] * row.value[k] * row.value[k];
      if (first != nullptr) first[at] += r[o] * row.value[k];
    }
}

}  // namespace

void Design::multiply(std::span<const double> w, std::span<double> out, Index outputs) const {
  product_pass(
      w,
      [&](Index first, std::span<double> products) {
        std::copy(products.begin(), products.end(), out.begin() + first * outputs);
        return 0.0;
      },
      outputs);
  linalg::gather_rows(rows(), outputs, out.data());
}

void Design::add_transposed(std::span<const double> r, std::span<double> out, Index outputs) const {
  const Sums sums(*this, out, outputs);
  linalg::visit_rows(*this, [&]<typename Row>(const RowsOf<Row>& x) {
    if (adds_by_columns(x, sums.place().size(), outputs)) {
      std::vector<double> place;
      const double* const all = linalg::gathered(rows(), r, place).data();
      add_columns(x, all, outputs, sums.place().data());
      if (sums.wants_sums()) add_sums(rows(), all, outputs, sums.place().data() + sums.sums_at());
      return;
    }
    const Index block_size = outputs == 1 ? kMaxBlockRows : block_rows(x, outputs);
    over_rows(
        rows(), numbers_ * outputs, sums.place(),
        [&](Index begin, Index end, double* sum) {
          Block<Row> block(x, outputs);
          for (Index i = begin; i < end; i += block_size) {
            const Index count = std::min(block_size, end - i);
            block.read(i, count);
            call_for(x, i + count, std::min(block_size, end - i - count));
            block.add(r.data() + i * outputs, sum);
          }
          block.finish(sum);
          if (sums.wants_sums())
            add_sums(end - begin, r.data() + begin * outputs, outputs, sum + sums.sums_at());
          return 0.0;
        },
        weight_of(x));
  });
  sums.finish();
}

namespace {

/// (a x + z)² is a² x² + 2az x + z². `sums` holds those of x² and, where the map changes numbers, of x;
/// `row_sums` those of 1, one for each output.
void add_mapped_squares(const ColumnMap& map, std::span<const double> sums, std::span<const double> row_sums,
                        std::span<double> out) {
  const std::size_t outputs = row_sums.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    double square = sums[i];
    if (!map.is_identity()) {
      const auto column = static_cast<Index>(i / outputs);
      const double a = map.scaled(column, 1.0), z = map.apply(column, 0.0);
      square = a * a * square + 2.0 * a * z * sums[out.size() + i] + z * z * row_sums[i % outputs];
    }
    out[i] += square;
  }
}

}  // namespace

void Design::add_transposed_squares(std::span<const double> r, std::span<double> out, Index outputs) const {
  const ColumnMap map = linalg::Access::map(*this);
  const bool has_intercepts = holds_intercepts(*this, out.size(), outputs);
  const Index size = cols() * outputs;
  if (omits_zeros() && map.is_diagonal()) {
    const RowsOf<linalg::SparseRow> x(*this);
    const bool is_mapped = !map.is_identity();
    const Index sums_at = is_mapped ? 2 * size : size;
    std::vector<double> sums(static_cast<std::size_t>(sums_at + outputs), 0.0);
    std::vector<double> place;
    const bool by_columns = adds_by_columns(x, sums.size(), outputs);
    const double* const weights = by_columns ? linalg::gathered(rows(), r, place).data() : r.data();
    const auto add_row = [&](Index i, const SparseRow& row, double* sum) {
      add_sparse_squares(row, weights + i * outputs, outputs, sum, is_mapped ? sum + size : nullptr);
    };
    if (by_columns) {
      over_columns(x, outputs, [&](Index i, const SparseRow& row) { add_row(i, row, sums.data()); });
      add_sums(rows(), weights, outputs, sums.data() + sums_at);
    } else {
      over_rows(rows(), numbers_ * outputs, sums, [&](Index begin, Index end, double* sum) {
        for (Index i = begin; i < end; ++i) add_row(i, x.row(i), sum);
        add_sums(end - begin, r.data() + begin * outputs, outputs, sum + sums_at);
        return 0.0;
      });
    }
    const std::span<const double> row_sums = std::span(sums).subspan(static_cast<std::size_t>(sums_at));
    add_mapped_squares(map, sums, row_sums, out.first(static_cast<std::size_t>(size)));
    for (std::size_t o = 0; has_intercepts && o < row_sums.size(); ++o)
      out[static_cast<std::size_t>(size) + o] += row_sums[o];
    return;
  }
  const Index block_size = block_rows(cols(), outputs);
  over_rows(rows(), numbers_ * outputs, out, [&](Index begin, Index end, double* sum) {
    thread_local std::vector<double> squares;
    squares.resize(static_cast<std::size_t>(block_size * cols()));
    const double* place[kMaxBlockRows];
    for (Index i = 0; i < block_size; ++i) place[i] = squares.data() + i * cols();
    for (Index i = begin; i < end; i += block_size) {
      const Index count = std::min(block_size, end - i);
      copy_rows(i, count, squares.data(), cols());
      std::transform(squares.begin(), squares.begin() + count * cols(), squares.begin(),
                     [](double value) { return value * value; });
      if (outputs == 1) {
        linalg::kernels().doubles.add_rows(place, count, cols(), r.data() + i, sum);
      } else {
        linalg::add_transposed(squares.data(), count, cols(), r.data() + i * outputs, outputs, sum);
      }
    }
    if (has_intercepts) add_sums(end - begin, r.data() + begin * outputs, outputs, sum + size);
    return 0.0;
  });
}

double Design::fused_pass(std::span<const double> w, RowBlock map, std::span<double> out,
                          Index outputs) const {
  thread_local Factor::Scratch scratch;
  const Factor factors[] = {{*this, w, outputs, scratch}};
  const Sums sums(*this, out, outputs);
  const auto call = [&](Index first, std::size_t size, double* products, const double*) {
    return map(first, {products, size});
  };
  const double total =
      linalg::visit_rows(*this, [&](const auto& x) { return pass(x, factors, call, sums, outputs); });
  sums.finish();
  return total;
}

double Design::product_pass(std::span<const double> w, RowBlock map, Index outputs) const {
  return fused_pass(w, map, {}, outputs);
}

double Design::fused_pass2(std::span<const double> w, std::span<const double> p, RowBlock2 map,
                           std::span<double> out, Index outputs) const {
  thread_local Factor::Scratch scratch_w, scratch_p;
  const Factor factors[] = {{*this, w, outputs, scratch_w}, {*this, p, outputs, scratch_p}};
  const Sums sums(*this, out, outputs);
  const auto call = [&](Index first, std::size_t size, double* products, const double* second) {
    return map(first, {products, size}, {second, size});
  };
  const double total =
      linalg::visit_rows(*this, [&](const auto& x) { return pass(x, factors, call, sums, outputs); });
  sums.finish();
  return total;
}

double Design::product_pass2(std::span<const double> w, std::span<const double> p, RowBlock2 map,
                             Index outputs) const {
  return fused_pass2(w, p, map, {}, outputs);
}

double Design::sum_rows(Index outputs, RowRange range, std::span<double> sums) const {
  return over_rows(rows(), rows() * outputs * kOperationsOfLoss, sums,
                   [&](Index begin, Index end, double* sum) { return range(begin, end - begin, sum); });
}

}  // namespace yosida
