#include "linalg/design_bytes.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "linalg/rows.hpp"
#include "yosida/error.hpp"

namespace yosida::linalg {
namespace {

// The header, then numbers; of sparse rows where each begins (and where the last ends), values, columns.
enum Field { kIsSparse, kRows, kCols, kEntries, kFields };
using Header = std::array<std::int64_t, kFields>;

template <typename Number>
std::string_view as_bytes(const Number* numbers, std::size_t count) {
  return {reinterpret_cast<const char*>(numbers), count * sizeof(Number)};
}

void put_sparse(const RowsOf<SparseRow>& rows, FunctionRef<void(std::string_view)> put) {
  std::vector<std::int64_t> start{0};
  for (Index i = 0; i < rows.rows(); ++i) start.push_back(start.back() + rows.row(i).size);
  const Header header{1, rows.rows(), rows.cols(), start.back()};
  put(as_bytes(header.data(), header.size()));
  put(as_bytes(start.data(), start.size()));
  for (Index i = 0; i < rows.rows(); ++i)
    put(as_bytes(rows.row(i).value, static_cast<std::size_t>(rows.row(i).size)));
  for (Index i = 0; i < rows.rows(); ++i)
    put(as_bytes(rows.row(i).column, static_cast<std::size_t>(rows.row(i).size)));
}

// Takes `count` numbers off the front of the bytes.
template <typename Number>
std::span<const Number> take(std::span<const char>& bytes, std::int64_t count) {
  if (count < 0 || static_cast<std::size_t>(count) > bytes.size() / sizeof(Number))
    throw InputError("design: the bytes break off before the numbers that they claim to hold");
  const auto size = static_cast<std::size_t>(count);
  const std::span<const Number> taken(reinterpret_cast<const Number*>(bytes.data()), size);
  bytes = bytes.subspan(size * sizeof(Number));
  return taken;
}

}  // namespace

void put_bytes(const Design& x, FunctionRef<void(std::string_view)> put) {
  if (Access::storage(x).is_sparse) {
    put_sparse(RowsOf<SparseRow>(x), put);
    return;
  }
  const Header header{0, x.rows(), x.cols(), x.rows() * x.cols()};
  put(as_bytes(header.data(), header.size()));
  for_each_row(x, [&](Index, const double* row) { put(as_bytes(row, static_cast<std::size_t>(x.cols()))); });
}

Design view_bytes(std::span<const char> bytes, std::shared_ptr<const void> owner, bool looks_at_columns) {
  const auto header = take<std::int64_t>(bytes, kFields);
  const std::int64_t rows = header[kRows], cols = header[kCols], entries = header[kEntries];
  if (header[kIsSparse] == 0) {
    const auto values = take<double>(bytes, entries);
    if (rows < 0 || cols < 0 || (cols > 0 && rows != entries / cols) || rows * cols != entries)
      throw InputError("design: the bytes hold other numbers than their rows and columns");
    return dense_view(values.data(), rows, cols, cols, std::move(owner));
  }
  if (rows < 0 || rows == std::numeric_limits<std::int64_t>::max())
    throw InputError("design: the bytes hold no such number of rows");
  const auto start = take<std::int64_t>(bytes, rows + 1);
  const auto values = take<double>(bytes, entries);
  const auto columns = take<std::int32_t>(bytes, entries);
  if (looks_at_columns) return sparse_view(start, columns, values, cols, std::move(owner));
  auto storage = std::make_shared<Storage>();
  storage->is_sparse = true;
  storage->cols = cols;
  storage->first.push_back(rows);
  storage->sparse.push_back({start.data(), columns.data(), values.data()});
  storage->owners.push_back(std::move(owner));
  return Access::design(std::move(storage));
}

}  // namespace yosida::linalg
