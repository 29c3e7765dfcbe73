#include "linalg/row_keys.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "linalg/over_rows.hpp"
#include "linalg/rows.hpp"

namespace yosida {
namespace {

/// The finalizer of splitmix64: each bit of the result depends on each of z.
std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// One pattern for every NaN.
std::uint64_t bits_of(double number) {
  return std::bit_cast<std::uint64_t>(std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number);
}

/// What an entry adds to the key of its row; 0 adds nothing, stored or not.
std::uint64_t term_of(Index column, double number) {
  if (number == 0.0) return 0;
  return mixed(bits_of(number) + mixed(static_cast<std::uint64_t>(column)));
}

}  // namespace

std::vector<std::uint64_t> row_keys(const Design& x) {
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(x.rows()), 0);
  if (x.omits_zeros()) {
    const linalg::RowsOf<linalg::SparseRow> rows(x);
    for (Index i = 0; i < x.rows(); ++i) {
      const auto [column, value, size] = rows.row(i);
      for (Index k = 0; k < size; ++k) keys[static_cast<std::size_t>(i)] += term_of(column[k], value[k]);
    }
    return keys;
  }
  linalg::for_each_row(linalg::Access::as_stored(x), [&](Index i, const double* row) {
    std::uint64_t key = 0;
    for (Index j = 0; j < x.cols(); ++j) key += term_of(j, row[j]);
    keys[static_cast<std::size_t>(i)] = key;
  });
  return keys;
}

}  // namespace yosida
