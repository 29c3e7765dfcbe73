#include "yosida/linalg/design.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "linalg/chosen_columns.hpp"
#include "linalg/large_blocks.hpp"
#include "linalg/rows.hpp"
#include "linalg/tasks.hpp"
#include "yosida/error.hpp"
#include "yosida/number_text.hpp"

namespace yosida {
namespace {

using linalg::Access;
using linalg::ColumnMap;
using linalg::RowsOf;
using linalg::SparseRow;
using linalg::Storage;

InputError refused(const std::string& what, const std::string& rule) {
  return InputError("design: " + what + ": " + rule);
}

void require_shape(Index rows, Index cols) {
  if (rows < 0 || cols < 0)
    throw refused(std::to_string(rows) + " rows of " + std::to_string(cols) + " columns",
                  "neither may be negative");
}

/// The index of a selected row has 4 bytes.
void require_selectable(Index rows) {
  constexpr Index kMost = std::numeric_limits<std::uint32_t>::max();
  if (rows > kMost)
    throw refused(std::to_string(rows) + " rows",
                  "rows can be selected from at most " + std::to_string(kMost));
}

template <typename Number>
std::shared_ptr<Storage> dense_storage(const Number* values, Index rows, Index cols, Index stride,
                                       std::shared_ptr<const void> owner) {
  require_shape(rows, cols);
  if (stride < cols)
    throw refused("stride = " + std::to_string(stride),
                  "must be at least the " + std::to_string(cols) + " columns of a row");
  constexpr Index kMostBytes = std::numeric_limits<Index>::max();
  if (stride > 0 && rows > kMostBytes / static_cast<Index>(sizeof(Number)) / stride)
    throw refused(std::to_string(rows) + " rows, each " + std::to_string(stride) + " numbers behind the last",
                  "no memory is as large");
  if (values == nullptr && rows > 0 && cols > 0)
    throw refused("values = null", "must point to the " + std::to_string(rows) + " x " +
                                       std::to_string(cols) + " numbers of the design");
  auto storage = std::make_shared<Storage>();
  storage->cols = cols;
  storage->first.push_back(rows);
  if constexpr (std::is_same_v<Number, double>) {
    storage->dense.push_back({.doubles = values, .singles = nullptr, .stride = stride});
  } else {
    storage->is_single = true;
    storage->dense.push_back({.doubles = nullptr, .singles = values, .stride = stride});
  }
  storage->owners.push_back(std::move(owner));
  return storage;
}

void require_entries(std::span<const std::int64_t> row_start, std::span<const std::int32_t> column,
                     std::span<const double> value, Index cols) {
  if (row_start.empty()) throw refused("row_start is empty", "it holds one number more than there are rows");
  const auto entries = static_cast<std::int64_t>(value.size());
  if (column.size() != value.size())
    throw refused(std::to_string(column.size()) + " columns of " + std::to_string(entries) + " values",
                  "each value needs one");
  for (std::size_t i = 0; i + 1 < row_start.size(); ++i) {
    const std::int64_t begin = row_start[i], end = row_start[i + 1];
    if (begin < 0 || end < begin || end > entries)
      throw refused("row " + std::to_string(i) + " holds the entries " + std::to_string(begin) + " to " +
                        std::to_string(end),
                    "row_start must rise, inside the " + std::to_string(entries) + " entries there are");
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int32_t at = column[static_cast<std::size_t>(k)];
      if (at < 0 || at >= cols)
        throw refused("row " + std::to_string(i) + " has an entry in column " + std::to_string(at),
                      "columns are 0 to " + std::to_string(cols - 1));
      if (k > begin && at <= column[static_cast<std::size_t>(k - 1)])
        throw refused("row " + std::to_string(i) + " has column " + std::to_string(at) + " behind column " +
                          std::to_string(column[static_cast<std::size_t>(k - 1)]),
                      "the columns of a row must rise");
    }
  }
}

std::shared_ptr<Storage> sparse_storage(std::span<const std::int64_t> row_start,
                                        std::span<const std::int32_t> column, std::span<const double> value,
                                        Index cols, std::shared_ptr<const void> owner) {
  const auto rows = static_cast<Index>(row_start.size()) - 1;
  require_shape(0, cols);
  require_entries(row_start, column, value, cols);
  auto storage = std::make_shared<Storage>();
  storage->is_sparse = true;
  storage->cols = cols;
  storage->first.push_back(rows);
  storage->sparse.push_back({row_start.data(), column.data(), value.data()});
  storage->owners.push_back(std::move(owner));
  return storage;
}

std::shared_ptr<Storage> storage_of(std::shared_ptr<const Matrix> values) {
  if (!values) throw InputError("design: there is no matrix: a pointer to one is null");
  const Matrix& numbers = *values;
  return dense_storage(numbers.data(), numbers.rows(), numbers.cols(), numbers.cols(), std::move(values));
}

std::shared_ptr<Storage> storage_of(SparseRows rows) {
  const auto kept = std::make_shared<const SparseRows>(std::move(rows));
  return sparse_storage(kept->row_start, kept->column, kept->value, kept->columns, kept);
}

bool same_steps(const std::vector<ColumnStep>* a, const std::vector<ColumnStep>* b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

/// Whether the numbers of a piece lie where so many rows of the one before end.
bool follows(const Storage::Dense& next, const Storage::Dense& last, Index rows) {
  const Index numbers = rows * last.stride;
  return next.stride == last.stride && (next.doubles != nullptr ? last.doubles + numbers == next.doubles
                                                                : last.singles + numbers == next.singles);
}

/// Behind the rows of `storage` the rows [begin, begin + count) of another; what adjoins stays one piece.
void append(Storage& storage, const Storage& other, Index begin, Index count) {
  storage.owners.insert(storage.owners.end(), other.owners.begin(), other.owners.end());
  while (count > 0) {
    const std::size_t piece = other.piece_of(begin);
    const Index skipped = begin - other.first[piece];
    const Index taken = std::min(count, other.first[piece + 1] - begin);
    const Index last_rows = storage.pieces() == 0 ? 0 : storage.rows() - storage.first[storage.pieces() - 1];
    bool adjoins = false;
    if (storage.is_sparse) {
      Storage::Sparse next = other.sparse[piece];
      next.row_start += skipped;
      adjoins = last_rows > 0 && storage.sparse.back().value == next.value &&
                storage.sparse.back().column == next.column &&
                storage.sparse.back().row_start + last_rows == next.row_start;
      if (!adjoins) storage.sparse.push_back(next);
    } else {
      Storage::Dense next = other.dense[piece];
      if (storage.is_single) {
        next.singles += skipped * next.stride;
      } else {
        next.doubles += skipped * next.stride;
      }
      adjoins = last_rows > 0 && follows(next, storage.dense.back(), last_rows);
      if (!adjoins) storage.dense.push_back(next);
    }
    const Index end = storage.rows() + taken;
    if (adjoins) storage.first.pop_back();
    storage.first.push_back(end);
    begin += taken;
    count -= taken;
  }
}

void append_row(SparseRows& rows, const SparseRow& row) {
  rows.column.insert(rows.column.end(), row.column, row.column + row.size);
  rows.value.insert(rows.value.end(), row.value, row.value + row.size);
  rows.row_start.push_back(static_cast<std::int64_t>(rows.value.size()));
}

SparseRows copied(const RowsOf<SparseRow>& x) {
  SparseRows rows;
  rows.columns = x.cols();
  rows.row_start.reserve(static_cast<std::size_t>(x.rows()) + 1);
  rows.column.reserve(static_cast<std::size_t>(x.numbers()));
  rows.value.reserve(static_cast<std::size_t>(x.numbers()));
  for (Index i = 0; i < x.rows(); ++i) append_row(rows, x.row(i));
  return rows;
}

/// The steps are applied to each column that has a value in every row. For the others only the scale is
/// applied: what their zeros become stays a shift.
Design packed_sparse(const Design& x) {
  const ColumnMap map = Access::map(x);
  SparseRows rows = copied(RowsOf<SparseRow>(x));
  if (map.is_identity()) return rows;
  if (!map.is_diagonal()) {
    Design copy = rows;
    for (const ColumnStep& step : *Access::steps(x)) copy = copy.mapped(step);
    return copy;
  }
  std::vector<Index> count(static_cast<std::size_t>(x.cols()), 0);
  for (const std::int32_t column : rows.column) ++count[static_cast<std::size_t>(column)];
  const auto is_full = [&](Index column) { return count[static_cast<std::size_t>(column)] == x.rows(); };
  for (std::size_t k = 0; k < rows.value.size(); ++k) {
    const Index column = rows.column[k];
    rows.value[k] = is_full(column) ? map.apply(column, rows.value[k]) : map.scaled(column, rows.value[k]);
  }
  Vector shift = Vector::Zero(x.cols());
  for (Index j = 0; j < x.cols(); ++j)
    if (!is_full(j)) shift[j] = -map.apply(j, 0.0);
  Design copy = std::move(rows);
  return shift.isZero(0.0) ? copy : copy.mapped({.shift = shift});
}

/// Columns of a sparse row in another order must be sorted again.
Design sparse_columns(const Design& x, std::span<const Index> columns) {
  std::vector<std::vector<std::int32_t>> places(static_cast<std::size_t>(x.cols()));
  for (std::size_t k = 0; k < columns.size(); ++k)
    places[static_cast<std::size_t>(columns[k])].push_back(static_cast<std::int32_t>(k));
  SparseRows chosen;
  chosen.columns = static_cast<Index>(columns.size());
  const RowsOf<SparseRow> rows(x);
  std::vector<std::pair<std::int32_t, double>> entries;
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto [column, value, size] = rows.row(i);
    entries.clear();
    for (Index k = 0; k < size; ++k)
      for (const std::int32_t place : places[static_cast<std::size_t>(column[k])])
        entries.emplace_back(place, value[k]);
    std::sort(entries.begin(), entries.end());
    for (const auto& [place, number] : entries) {
      chosen.column.push_back(place);
      chosen.value.push_back(number);
    }
    chosen.row_start.push_back(static_cast<std::int64_t>(chosen.value.size()));
  }
  Design result = std::move(chosen);
  if (const std::vector<ColumnStep>* steps = Access::steps(x)) {
    const std::vector<Index> list(columns.begin(), columns.end());
    for (const ColumnStep& step : *steps)
      result = result.mapped({.shift = step.shift.size() > 0 ? Vector(step.shift(list)) : Vector(),
                              .scale = step.scale.size() > 0 ? Vector(step.scale(list)) : Vector()});
  }
  return result;
}

}  // namespace

bool ColumnStep::operator==(const ColumnStep& other) const {
  const auto same = [](const Vector& a, const Vector& b) { return a.size() == b.size() && a == b; };
  return differences == other.differences && same(shift, other.shift) && same(scale, other.scale);
}

Design::Design() {
  static const std::shared_ptr<const Storage> nothing = dense_storage<double>(nullptr, 0, 0, 0, nullptr);
  storage_ = nothing;
}

Design::Design(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {
  cols_ = storage_->cols;
  *this = with_rows(nullptr, 0, storage_->rows());
}

Design::Design(Matrix values) : Design(std::make_shared<const Matrix>(std::move(values))) {}
Design::Design(std::shared_ptr<const Matrix> values)
    : Design(std::shared_ptr<const Storage>(storage_of(std::move(values)))) {}
Design::Design(SparseRows rows) : Design(std::shared_ptr<const Storage>(storage_of(std::move(rows)))) {}

Design dense_view(const double* values, Index rows, Index cols, Index stride,
                  std::shared_ptr<const void> owner) {
  return Access::design(dense_storage(values, rows, cols, stride, std::move(owner)));
}

Design dense_view(const float* values, Index rows, Index cols, Index stride,
                  std::shared_ptr<const void> owner) {
  return Access::design(dense_storage(values, rows, cols, stride, std::move(owner)));
}

Design sparse_view(std::span<const std::int64_t> row_start, std::span<const std::int32_t> column,
                   std::span<const double> value, Index cols, std::shared_ptr<const void> owner) {
  return Access::design(sparse_storage(row_start, column, value, cols, std::move(owner)));
}

Design linalg::Access::design(std::shared_ptr<const Storage> storage,
                              std::shared_ptr<const std::vector<std::uint32_t>> selection,
                              const Design& like) {
  Design result(std::move(storage));
  result.steps_ = like.steps_;
  result.cols_ = like.cols_;
  const Index rows = selection ? static_cast<Index>(selection->size()) : result.rows_;
  return result.with_rows(std::move(selection), 0, rows);
}

bool Design::omits_zeros() const { return storage_->is_sparse; }

double Design::bytes_to_pack() const {
  const bool in_one_piece =
      !selection_ && (rows_ == 0 || storage_->piece_of(begin_) == storage_->piece_of(begin_ + rows_ - 1));
  if (in_one_piece && !steps_) return 0.0;
  constexpr double kBytesOfEntry = sizeof(double) + sizeof(std::int32_t);
  const auto count = static_cast<double>(numbers_);
  return omits_zeros() ? kBytesOfEntry * count + sizeof(std::int64_t) * static_cast<double>(rows_)
                       : sizeof(double) * count;
}

Design Design::with_rows(std::shared_ptr<const Selection> selection, Index begin, Index count) const {
  Design view = *this;
  view.selection_ = std::move(selection);
  view.begin_ = begin;
  view.rows_ = count;
  view.numbers_ = count * cols_;
  if (!storage_->is_sparse) return view;
  view.numbers_ = 0;
  const RowsOf<SparseRow> rows(view);
  for (Index i = 0; i < count; ++i) view.numbers_ += rows.row(i).size;
  return view;
}

Design Design::row_range(Index begin, Index count) const {
  if (begin < 0 || count < 0 || begin > rows_ || count > rows_ - begin)
    throw refused(std::to_string(count) + " rows from row " + std::to_string(begin) + " on",
                  "it has rows 0 to " + std::to_string(rows_ - 1));
  return with_rows(selection_, begin_ + begin, count);
}

Design Design::select_rows(std::span<const Index> rows) const {
  for (const Index row : rows)
    if (row < 0 || row >= rows_)
      throw refused("row " + std::to_string(row), "it has rows 0 to " + std::to_string(rows_ - 1));
  const auto follows = [](Index a, Index b) { return b != a + 1; };
  if (rows.empty()) return row_range(0, 0);
  if (std::adjacent_find(rows.begin(), rows.end(), follows) == rows.end())
    return row_range(rows.front(), static_cast<Index>(rows.size()));
  require_selectable(storage_->rows());
  auto selection = std::make_shared<Selection>();
  selection->reserve(rows.size());
  for (const Index row : rows)
    selection->push_back(selection_ ? (*selection_)[static_cast<std::size_t>(begin_ + row)]
                                    : static_cast<std::uint32_t>(begin_ + row));
  return with_rows(std::move(selection), 0, static_cast<Index>(rows.size()));
}

Design Design::mapped(ColumnStep step) const {
  Design view = *this;
  if (step.differences) --view.cols_;
  if (view.cols_ < 0 || (step.differences && view.cols_ == 0))
    throw refused(std::to_string(cols_) + " columns", "differences need at least 2");
  for (const Vector* each : {&step.shift, &step.scale})
    if (each->size() > 0 && each->size() != view.cols_)
      throw refused("a step of " + std::to_string(each->size()) + " numbers",
                    "must be of the " + std::to_string(view.cols_) + " columns");
  if (!step.differences && step.shift.size() == 0 && step.scale.size() == 0) return view;
  auto steps = steps_ ? std::make_shared<Steps>(*steps_) : std::make_shared<Steps>();
  steps->push_back(std::move(step));
  view.steps_ = std::move(steps);
  if (!omits_zeros()) view.numbers_ = view.rows_ * view.cols_;
  return view;
}

Design Design::widened(Index cols) const {
  if (!omits_zeros() || cols <= cols_) return *this;
  if (steps_) throw refused("columns behind those of a step", "widen a design before its steps");
  auto storage = std::make_shared<Storage>(*storage_);
  storage->cols = cols;
  Design wider = *this;
  wider.storage_ = std::move(storage);
  wider.cols_ = cols;
  return wider;
}

void Design::copy_rows(Index begin, Index count, double* out, Index stride) const {
  const ColumnMap map = Access::map(*this);
  const Index stored = storage_->cols;
  std::vector<double> wider(stored > cols_ ? static_cast<std::size_t>(stored) : 0);
  linalg::visit_rows(*this, [&]<typename Row>(const RowsOf<Row>& rows) {
    for (Index i = 0; i < count; ++i) {
      double* const target = stored > cols_ ? wider.data() : out + i * stride;
      const Row row = rows.row(begin + i);
      if constexpr (!std::is_same_v<Row, SparseRow>) {
        std::copy_n(row, stored, target);
      } else {
        std::fill_n(target, stored, 0.0);
        for (Index k = 0; k < row.size; ++k) target[row.column[k]] = row.value[k];
      }
      map.apply(target, stored);
      if (stored > cols_) std::copy_n(target, cols_, out + i * stride);
    }
  });
}

Design Design::packed() const { return omits_zeros() ? packed_sparse(*this) : Design(to_matrix(*this)); }

Design Design::with_columns(std::span<const Index> columns) const {
  for (const Index column : columns)
    if (column < 0 || column >= cols_)
      throw refused("column " + std::to_string(column), "it has columns 0 to " + std::to_string(cols_ - 1));
  if (omits_zeros() && Access::map(*this).is_diagonal()) return sparse_columns(*this, columns);
  const Index parts = std::min<Index>(8, rows_);
  Matrix chosen = linalg::unfilled(rows_, static_cast<Index>(columns.size()));
  linalg::run_tasks(parts, chosen.size(), [&](Index part) {
    const Index begin = rows_ * part / parts;
    linalg::for_each_row_on(row_range(begin, rows_ * (part + 1) / parts - begin), columns,
                            [&](Index i, const double* numbers) {
                              std::copy_n(numbers, columns.size(), chosen.row(begin + i).data());
                            });
  });
  return Design(std::move(chosen));
}

Design Design::with_missing(const Vector& values) const {
  if (values.size() != cols_)
    throw refused(std::to_string(values.size()) + " values for what is missing",
                  "must be one for each of the " + std::to_string(cols_) + " columns");
  bool any = false;
  if (omits_zeros()) {
    SparseRows filled = copied(RowsOf<SparseRow>(*this));
    for (std::size_t k = 0; k < filled.value.size(); ++k) {
      if (!std::isnan(filled.value[k])) continue;
      filled.value[k] = values[filled.column[k]];
      any = true;
    }
    return any ? Design(std::move(filled)) : *this;
  }
  linalg::for_each_row(*this, [&](Index, const double* row) {
    any = any || std::any_of(row, row + cols_, [](double value) { return std::isnan(value); });
  });
  if (!any) return *this;
  Matrix filled = to_matrix(*this);
  for (Index i = 0; i < rows_; ++i)
    for (Index j = 0; j < cols_; ++j)
      if (std::isnan(filled(i, j))) filled(i, j) = values[j];
  return Design(std::move(filled));
}

Design with_singles(const Design& x) {
  if (x.omits_zeros() || Access::storage(x).is_single) return x;
  const Design plain = Access::as_stored(x);
  const auto numbers =
      std::make_shared_for_overwrite<float[]>(static_cast<std::size_t>(plain.rows() * plain.cols()));
  linalg::for_each_row(plain, [&](Index i, const double* row) {
    for (Index j = 0; j < plain.cols(); ++j) {
      const auto single = static_cast<float>(row[j]);
      if (std::isinf(single) && std::isfinite(row[j]))
        throw refused("row " + std::to_string(i) + ", column " + std::to_string(j) + " (counted from 0) is " +
                          number_text(row[j]),
                      "a number of 4 bytes is at most 3.4e38");
      numbers[i * plain.cols() + j] = single;
    }
  });
  return Access::design(
      dense_storage<float>(numbers.get(), plain.rows(), plain.cols(), plain.cols(), numbers), nullptr, x);
}

namespace {

/// A copy of the rows as doubles.
Design with_doubles(const Design& x) {
  const Design plain = Access::as_stored(x);
  return Access::design(storage_of(std::make_shared<const Matrix>(to_matrix(plain))), nullptr, x);
}

}  // namespace

Design stack_rows(std::span<const Design> pieces) {
  if (pieces.empty()) return {};
  const auto is_single = [](const Design& piece) { return Access::storage(piece).is_single; };
  if (const auto singles = std::count_if(pieces.begin(), pieces.end(), is_single);
      singles > 0 && static_cast<std::size_t>(singles) < pieces.size()) {
    std::vector<Design> alike;
    for (const Design& piece : pieces) alike.push_back(is_single(piece) ? with_doubles(piece) : piece);
    return stack_rows(alike);
  }
  const Design& first = pieces.front();
  bool select = false;
  for (const Design& piece : pieces) {
    if (piece.cols() != first.cols() || Access::storage(piece).cols != Access::storage(first).cols)
      throw refused("a piece of " + std::to_string(piece.cols()) + " columns behind one of " +
                        std::to_string(first.cols()),
                    "pieces must have the same columns");
    if (piece.omits_zeros() != first.omits_zeros())
      throw refused("a dense and a sparse piece", "pieces must be dense or sparse alike");
    if (!same_steps(Access::steps(piece), Access::steps(first)))
      throw refused("pieces with different steps on their columns", "they must be the same");
    select = select || Access::selection(piece) != nullptr;
  }
  auto storage = std::make_shared<Storage>();
  storage->is_sparse = first.omits_zeros();
  storage->is_single = is_single(first);
  storage->cols = Access::storage(first).cols;
  std::vector<std::uint32_t> selection;
  const Storage* last = nullptr;
  Index offset = 0;  // where the rows of the last storage begin
  for (const Design& piece : pieces) {
    const Storage& own = Access::storage(piece);
    if (!select) {
      append(*storage, own, Access::begin(piece), piece.rows());
      continue;
    }
    if (&own != last) {
      offset = storage->rows();
      append(*storage, own, 0, own.rows());
      last = &own;
    }
    require_selectable(storage->rows());
    const std::uint32_t* const chosen = Access::selection(piece);
    for (Index i = 0; i < piece.rows(); ++i)
      selection.push_back(static_cast<std::uint32_t>(
          offset + (chosen != nullptr ? Index{chosen[i]} : Access::begin(piece) + i)));
  }
  if (!select) return Access::design(std::move(storage), nullptr, first);
  return Access::design(std::move(storage),
                        std::make_shared<const std::vector<std::uint32_t>>(std::move(selection)), first);
}

Design stack_rows(const Design& upper, const Design& lower) {
  const Design pieces[] = {upper, lower};
  return stack_rows(pieces);
}

Matrix to_matrix(const Design& design) {
  Matrix values = linalg::unfilled(design.rows(), design.cols());
  design.copy_rows(0, design.rows(), values.data(), design.cols());
  return values;
}

}  // namespace yosida
