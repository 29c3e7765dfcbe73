#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "yosida/linalg/design.hpp"

// How linalg reads the rows of a design. Nobody else asks how they are stored.

namespace yosida {
struct FirstLook;
}

namespace yosida::linalg {

/// What has been seen of the columns of all rows (look_at); null before.
struct KeptLook {
  std::once_flag once;
  std::shared_ptr<const FirstLook> look;
};

/// Rows as they lie in memory, in pieces of one kind. Written once, by whoever made them.
struct Storage {
  /// It holds numbers of one kind: the other pointer is null.
  struct Dense {
    const double* doubles;
    const float* singles;
    Index stride;
  };
  struct Sparse {
    const std::int64_t* row_start;
    const std::int32_t* column;
    const double* value;
  };

  bool is_sparse = false;
  bool is_single = false;  // dense, with numbers of 4 bytes
  Index cols = 0;
  std::vector<Index> first{0};  // the first row of each piece; then the number of all rows
  std::vector<Dense> dense;
  std::vector<Sparse> sparse;
  std::vector<std::shared_ptr<const void>> owners;
  std::shared_ptr<KeptLook> look = std::make_shared<KeptLook>();

  Index rows() const { return first.back(); }
  std::size_t pieces() const { return first.size() - 1; }
  std::size_t piece_of(Index row) const {
    return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), row) - first.begin()) - 1;
  }
};

/// The steps of a design on its columns.
class ColumnMap {
 public:
  explicit ColumnMap(const std::vector<ColumnStep>* steps) : steps_(steps) {}

  bool is_identity() const { return steps_ == nullptr || steps_->empty(); }
  /// No differences: each column has its own x ↦ a x + z.
  bool is_diagonal() const;
  /// Applies the steps to one row in place. The row comes with all columns that are stored.
  void apply(double* row, Index stored) const;
  /// Changes one number of a column, where there are no differences.
  double apply(Index column, double value) const;
  /// The steps of some columns, where there are no differences.
  std::vector<ColumnStep> of(std::span<const Index> columns) const;
  /// The same without shifts: a x.
  double scaled(Index column, double value) const;
  /// The products of a row with w are those of the row as it is stored with the weights that this leaves in
  /// `weights`, and `offset` (one number per output; this adds to it).
  void pull(std::span<const double> w, Index outputs, std::vector<double>& weights, double* offset) const;
  /// Turns Σ r_i x_i over rows as they are stored into that over rows, in place, given Σ r_i. Returns how
  /// many columns these have.
  Index push(double* sums, Index stored, const double* row_sums, Index outputs) const;

 private:
  const std::vector<ColumnStep>* steps_;
};

/// Shows linalg the parts of a Design that it needs.
class Access {
 public:
  static const Storage& storage(const Design& x) { return *x.storage_; }
  static const std::uint32_t* selection(const Design& x) {
    return x.selection_ ? x.selection_->data() + x.begin_ : nullptr;
  }
  static Index begin(const Design& x) { return x.begin_; }
  /// Whether it is all rows that are stored, as they are.
  static bool is_all_stored(const Design& x) {
    return !x.selection_ && !x.steps_ && x.begin_ == 0 && x.rows_ == x.storage_->rows();
  }
  static Index numbers(const Design& x) { return x.numbers_; }
  static const std::vector<ColumnStep>* steps(const Design& x) { return x.steps_.get(); }
  static ColumnMap map(const Design& x) { return ColumnMap(x.steps_.get()); }
  static Design design(std::shared_ptr<const Storage> storage) { return Design(std::move(storage)); }
  /// The same rows without any step.
  static Design as_stored(const Design& x) {
    Design plain = x;
    plain.steps_.reset();
    plain.cols_ = x.storage_->cols;
    return plain;
  }
  /// The rows selected (null: all), through the steps of `like`.
  static Design design(std::shared_ptr<const Storage> storage,
                       std::shared_ptr<const std::vector<std::uint32_t>> selection, const Design& like);
};

/// The rows of a design as they are stored.
template <typename Row>
class RowsOf {
 public:
  explicit RowsOf(const Design& x)
      : storage_(Access::storage(x)),
        selection_(Access::selection(x)),
        begin_(Access::begin(x)),
        rows_(x.rows()),
        numbers_(Access::numbers(x)) {}

  Index rows() const { return rows_; }
  Index cols() const { return storage_.cols; }
  Index numbers() const { return numbers_; }
  /// True where rows need not lie one behind the other.
  bool is_scattered() const { return selection_ != nullptr; }
  /// Where the rows [begin, begin + count) are.
  void fetch(Index begin, Index count, Row* out) const {
    if (count == 0) return;
    if (storage_.pieces() == 1) {  // without a look at where the piece ends
      if (selection_ == nullptr) {
        for (Index i = 0; i < count; ++i) out[i] = at(0, begin_ + begin + i);
      } else {
        for (Index i = 0; i < count; ++i) out[i] = at(0, selection_[begin + i]);
      }
      return;
    }
    std::size_t piece = storage_.piece_of(stored(begin));
    for (Index i = 0; i < count; ++i) {
      const Index row = stored(begin + i);
      if (row < storage_.first[piece] || row >= storage_.first[piece + 1]) piece = storage_.piece_of(row);
      out[i] = at(piece, row - storage_.first[piece]);
    }
  }
  Row row(Index i) const {
    Row found;
    fetch(i, 1, &found);
    return found;
  }

 private:
  Index stored(Index i) const { return selection_ != nullptr ? Index{selection_[i]} : begin_ + i; }
  Row at(std::size_t piece, Index row) const;

  const Storage& storage_;
  const std::uint32_t* selection_;
  Index begin_, rows_, numbers_;
};

struct SparseRow {
  const std::int32_t* column;
  const double* value;
  Index size;
};

using DenseRow = const double*;
using SingleRow = const float*;
template <>
inline DenseRow RowsOf<DenseRow>::at(std::size_t piece, Index row) const {
  return storage_.dense[piece].doubles + row * storage_.dense[piece].stride;
}
template <>
inline SingleRow RowsOf<SingleRow>::at(std::size_t piece, Index row) const {
  return storage_.dense[piece].singles + row * storage_.dense[piece].stride;
}
template <>
inline SparseRow RowsOf<SparseRow>::at(std::size_t piece, Index row) const {
  const Storage::Sparse& from = storage_.sparse[piece];
  const std::int64_t begin = from.row_start[row];
  return {from.column + begin, from.value + begin, from.row_start[row + 1] - begin};
}

/// Calls visit with the RowsOf that a dense design is made of.
template <typename Visit>
decltype(auto) visit_dense_rows(const Design& x, const Visit& visit) {
  if (Access::storage(x).is_single) return visit(RowsOf<SingleRow>(x));
  return visit(RowsOf<DenseRow>(x));
}

/// Calls visit with the RowsOf that the design is made of.
template <typename Visit>
decltype(auto) visit_rows(const Design& x, const Visit& visit) {
  if (Access::storage(x).is_sparse) return visit(RowsOf<SparseRow>(x));
  return visit_dense_rows(x, visit);
}

/// Calls visit(i, row) for each row with its cols() numbers, every step applied.
template <typename Visit>
void for_each_row(const Design& x, const Visit& visit) {
  const Storage& storage = Access::storage(x);
  if (!storage.is_sparse && !storage.is_single && Access::map(x).is_identity()) {
    const RowsOf<DenseRow> rows(x);
    for (Index i = 0; i < x.rows(); ++i) visit(i, rows.row(i));
    return;
  }
  std::vector<double> row(static_cast<std::size_t>(x.cols()));
  for (Index i = 0; i < x.rows(); ++i) {
    x.copy_rows(i, 1, row.data(), x.cols());
    visit(i, static_cast<const double*>(row.data()));
  }
}

}  // namespace yosida::linalg
