#include "linalg/columns.hpp"

#include <cmath>
#include <limits>

#include "linalg/kernels.hpp"
#include "linalg/over_rows.hpp"
#include "linalg/row_numbers.hpp"
#include "linalg/rows.hpp"
#include "linalg/tasks.hpp"
#include "linalg/unit_scale.hpp"

namespace yosida {
namespace {

using linalg::Access;
using linalg::ColumnMap;
using linalg::for_each_row;
using linalg::RowsOf;
using linalg::SparseRow;

/// Whether the columns can be read entry by entry: zeros are not stored, and steps turn all zeros of a column
/// into the same number.
bool reads_entries(const Design& x) { return x.omits_zeros() && Access::map(x).is_diagonal(); }

/// Calls visit(column, number, weight of the row) for each entry that is stored. Returns what those of each
/// column weigh.
template <typename Visit>
Vector for_each_entry(const Design& x, const Vector& weight, const Visit& visit) {
  const ColumnMap map = Access::map(x);
  const RowsOf<SparseRow> rows(x);
  Vector count = Vector::Zero(x.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto [column, value, size] = rows.row(i);
    const double own = weight.size() == 0 ? 1.0 : weight[i];
    for (Index k = 0; k < size; ++k) {
      count[column[k]] += own;
      visit(column[k], map.apply(column[k], value[k]), own);
    }
  }
  return count;
}

/// Calls visit(column, number, weight) for the zeros that are not stored.
template <typename Visit>
void for_each_omitted(const Design& x, double n, const Vector& count, const Visit& visit) {
  const ColumnMap map = Access::map(x);
  for (Index j = 0; j < x.cols(); ++j)
    if (count[j] < n) visit(j, map.apply(j, 0.0), n - count[j]);
}

// What is summed over rows is made of vectors of one number a column, which processes send each other.
struct Second {
  Vector rest, square;
};
std::vector<Vector*> vectors_of(Vector& sums) { return {&sums}; }
std::vector<Vector*> vectors_of(ColumnRange& range) { return {&range.low, &range.high}; }
std::vector<Vector*> vectors_of(FirstLook& look) { return {&look.range.low, &look.range.high, &look.sum}; }
std::vector<Vector*> vectors_of(Second& second) { return {&second.rest, &second.square}; }

/// The sums of all blocks of rows, of which `own` are those of this process.
template <typename Sums>
std::vector<Sums> gathered(const Design& x, Index blocks, std::vector<Sums> own, const Sums& none) {
  if (std::ssize(own) == blocks) return own;
  std::vector<double> numbers;
  for (Sums& sums : own)
    for (const Vector* each : vectors_of(sums)) numbers.insert(numbers.end(), each->begin(), each->end());
  std::vector<Sums> all(static_cast<std::size_t>(blocks), none);
  std::size_t size = 0;
  for (const Vector* each : vectors_of(all[0])) size += static_cast<std::size_t>(each->size());
  const std::vector<double> gathered = linalg::gather_blocks(x.rows(), blocks, numbers, size);
  const double* from = gathered.data();
  for (Sums& sums : all)
    for (Vector* each : vectors_of(sums)) {
      std::copy_n(from, each->size(), each->data());
      from += each->size();
    }
  return all;
}

/// Columns [begin, end) of a row.
struct Stretch {
  Index begin, end;
};

/// Calls visit(i, row, stretch) such that all columns of each row are visited once, rows in their order. Wide
/// rows are visited stretch by stretch, one stretch of all rows before the next: the sums of its columns then
/// stay in cache.
template <typename Visit>
void for_each_stretch(const Design& x, const Visit& visit) {
  constexpr Index kWidth = 1024;
  const linalg::Storage& storage = Access::storage(x);
  if (storage.is_sparse || storage.is_single || !Access::map(x).is_identity()) {
    for_each_row(x, [&](Index i, const double* row) { visit(i, row, Stretch{0, x.cols()}); });
    return;
  }
  const RowsOf<linalg::DenseRow> rows(x);
  for (Index begin = 0; begin < x.cols(); begin += kWidth)
    for (Index i = 0; i < x.rows(); ++i)
      visit(i, rows.row(i), Stretch{begin, std::min(begin + kWidth, x.cols())});
}

/// Calls visit(sums, rows, number of the first) for blocks of rows, and join(sums, others) for the sums of
/// one block after the other. The blocks are the same whatever the number of threads and processes.
template <typename Sums, typename Visit, typename Join>
Sums over_blocks(const Design& x, const Sums& none, const Visit& visit, const Join& join) {
  const Index blocks = linalg::blocks_of_pass(x.rows(), x.rows() * x.cols());
  const linalg::OwnBlocks own = linalg::own_blocks(x.rows(), blocks);
  std::vector<Sums> parts(static_cast<std::size_t>(own.count()), none);
  linalg::run_tasks(own.count(), x.rows() * x.cols(), [&](Index task) {
    const Index block = own.first + task;
    const Index begin = x.rows() * block / blocks;
    visit(parts[static_cast<std::size_t>(task)], x.row_range(begin, x.rows() * (block + 1) / blocks - begin),
          begin);
  });
  parts = gathered(x, blocks, std::move(parts), none);
  for (std::size_t i = 1; i < parts.size(); ++i) join(parts[0], parts[i]);
  return std::move(parts[0]);
}

/// The same by calls of visit(sums, row, its number, stretch) for all columns of each row.
template <typename Sums, typename Visit, typename Join>
Sums over_dense_rows(const Design& x, const Sums& none, const Visit& visit, const Join& join) {
  return over_blocks(
      x, none,
      [&](Sums& sums, const Design& block, Index first) {
        for_each_stretch(block, [&](Index i, const double* row, Stretch stretch) {
          visit(sums, row, first + i, stretch);
        });
      },
      join);
}

/// Sums of one number a column: term(row, j) times the weight of the row is what it adds to column j.
template <typename Term>
Vector sums_over_rows(const Design& x, const Vector& weight, const Term& term) {
  return over_dense_rows(
      x, Vector(Vector::Zero(x.cols())),
      [&](Vector& sums, const double* row, Index i, Stretch columns) {
        double* const out = sums.data();
        if (weight.size() == 0) {
          for (Index j = columns.begin; j < columns.end; ++j) out[j] += term(row, j);
        } else {
          for (Index j = columns.begin; j < columns.end; ++j) out[j] += weight[i] * term(row, j);
        }
      },
      [](Vector& sums, const Vector& others) { sums += others; });
}

void widen(ColumnRange& range, const double* row, Index, Stretch columns) {
  double* const low = range.low.data();
  double* const high = range.high.data();
  for (Index j = columns.begin; j < columns.end; ++j) {  // a comparison with NaN is false
    low[j] = row[j] < low[j] ? row[j] : low[j];
    high[j] = row[j] > high[j] ? row[j] : high[j];
  }
}

void join(ColumnRange& range, const ColumnRange& other) {
  range.low = range.low.cwiseMin(other.low);
  range.high = range.high.cwiseMax(other.high);
}

ColumnRange empty_range(Index columns) {
  return {Vector::Constant(columns, std::numeric_limits<double>::infinity()),
          Vector::Constant(columns, -std::numeric_limits<double>::infinity())};
}

/// What is there of rows of one kind of number, as they are stored.
template <typename Row>
void look_at_rows(const RowsOf<Row>& x, FirstLook& own) {
  constexpr Index kAtOnce = 64;
  Row place[kAtOnce];
  for (Index i = 0; i < x.rows(); i += kAtOnce) {
    const Index count = std::min(kAtOnce, x.rows() - i);
    x.fetch(i, count, place);
    linalg::kernels_of(place[0]).look(place, count, x.cols(), own.range.low.data(), own.range.high.data(),
                                      own.sum.data());
  }
}

FirstLook looked_at(const Design& x) {
  const FirstLook none{empty_range(x.cols()), Vector::Zero(x.cols())};
  const auto add = [](FirstLook& own, const FirstLook& other) {
    join(own.range, other.range);
    own.sum += other.sum;
  };
  if (!Access::storage(x).is_sparse && Access::map(x).is_identity())
    return over_blocks(
        x, none,
        [](FirstLook& own, const Design& block, Index) {
          linalg::visit_dense_rows(block, [&](const auto& rows) { look_at_rows(rows, own); });
        },
        add);
  return over_dense_rows(
      x, none,
      [](FirstLook& own, const double* row, Index i, Stretch columns) {
        widen(own.range, row, i, columns);
        double* const out = own.sum.data();
        for (Index j = columns.begin; j < columns.end; ++j) out[j] += row[j];
      },
      add);
}

/// The larger of both; NaN where either is.
double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

}  // namespace

bool FirstLook::is_finite() const {
  return sum.allFinite() && range.low.allFinite() && range.high.allFinite();
}

std::shared_ptr<const FirstLook> look_at(const Design& x) {
  if (!Access::is_all_stored(x)) return std::make_shared<const FirstLook>(looked_at(x));
  linalg::KeptLook& kept = *Access::storage(x).look;
  std::call_once(kept.once, [&] { kept.look = std::make_shared<const FirstLook>(looked_at(x)); });
  return kept.look;
}

Vector ColumnRange::unit_scales() const {
  return low.cwiseAbs().cwiseMax(high.cwiseAbs()).unaryExpr([](double v) { return unit_scale(v); });
}

ColumnRange column_range(const Design& x) {
  ColumnRange range = empty_range(x.cols());
  const auto add = [&](Index column, double value, double) {
    range.low[column] = std::min(range.low[column], value);
    range.high[column] = std::max(range.high[column], value);
  };
  if (reads_entries(x)) {
    for_each_omitted(x, total_weight(x, {}), for_each_entry(x, {}, add), add);
  } else {
    range = over_dense_rows(x, range, widen, join);
  }
  return range;
}

Vector largest_magnitudes(const Design& x) {
  const ColumnMap map = Access::map(x);
  if (!x.omits_zeros() && !map.is_identity() && map.is_diagonal()) {
    // Steps keep the order of numbers: the least and the largest of a column stay so, and one pass that
    // changes no number finds them.
    const auto look = look_at(Access::as_stored(x));
    if (const ColumnRange& range = look->range; look->sum.allFinite())
      return Vector::NullaryExpr(x.cols(), [&](Index j) {
        return std::max(std::abs(map.apply(j, range.low[j])), std::abs(map.apply(j, range.high[j])));
      });
  }
  Vector largest = Vector::Zero(x.cols());
  const auto add = [&](Index column, double value, double) {
    largest[column] = larger(largest[column], std::abs(value));
  };
  if (reads_entries(x)) {
    for_each_omitted(x, total_weight(x, {}), for_each_entry(x, {}, add), add);
  } else {
    largest = over_dense_rows(
        x, largest,
        [&](Vector& own, const double* row, Index, Stretch columns) {
          double* const most = own.data();
          for (Index j = columns.begin; j < columns.end; ++j) most[j] = larger(most[j], std::abs(row[j]));
        },
        [](Vector& own, const Vector& other) {
          for (Index j = 0; j < own.size(); ++j) own[j] = larger(own[j], other[j]);
        });
  }
  return largest;
}

Vector rough_means(const Design& x) {
  const auto n = static_cast<double>(x.rows());
  const ColumnMap map = Access::map(x);
  if (!x.omits_zeros() && map.is_diagonal() && Access::is_all_stored(Access::as_stored(x))) {
    const Vector sum = look_at(Access::as_stored(x))->sum;
    if (sum.allFinite())
      return Vector::NullaryExpr(x.cols(), [&](Index j) { return map.apply(j, sum[j] / n); });
  }
  Vector mean = Vector::Zero(x.cols());
  const Vector share = Vector::Constant(x.rows(), 1.0 / n);
  x.add_transposed(as_span(share), as_span(mean));
  return mean;
}

Vector column_means(const Design& x, const Vector& scale, const Vector& weight) {
  const double n = total_weight(x, weight);
  Vector mean = Vector::Zero(x.cols());
  if (reads_entries(x)) {
    const Vector count = for_each_entry(x, weight, [&](Index column, double value, double own) {
      mean[column] += own * (scale[column] * value / n);
    });
    for_each_omitted(x, n, count, [&](Index column, double value, double zeros) {
      mean[column] += scale[column] * value * (zeros / n);
    });
    return mean;
  }
  // Two passes: the second takes out the rounding of the first, which grows with the rows.
  mean =
      sums_over_rows(x, weight, [s = scale.data()](const double* row, Index j) { return row[j] * s[j]; }) / n;
  const Vector rest = sums_over_rows(
      x, weight,
      [s = scale.data(), m = mean.data()](const double* row, Index j) { return row[j] * s[j] - m[j]; });
  return mean + rest / n;
}

Vector column_deviations(const Design& x, const Vector& scale, const Vector& mean, const Vector& weight) {
  const double n = total_weight(x, weight);
  Vector square = Vector::Zero(x.cols());
  const auto square_of = [&](Index column, double value) {
    const double deviation = value * scale[column] - mean[column];
    return deviation * deviation;
  };
  if (reads_entries(x)) {
    // The zeros first: they are most of what there is.
    const Vector count = for_each_entry(x, weight, [](Index, double, double) {});
    for_each_omitted(x, n, count, [&](Index column, double value, double zeros) {
      square[column] = zeros * square_of(column, value);
    });
    for_each_entry(x, weight, [&](Index column, double value, double own) {
      square[column] += own * square_of(column, value);
    });
  } else {
    square = sums_over_rows(x, weight, [s = scale.data(), m = mean.data()](const double* row, Index j) {
      const double deviation = row[j] * s[j] - m[j];
      return deviation * deviation;
    });
  }
  return (square / n).cwiseSqrt();
}

ColumnStatistics column_statistics(const Design& x, const Vector& weight) {
  const Index d = x.cols();
  const auto n = static_cast<double>(x.rows());
  ColumnStatistics of;
  Vector sum = Vector::Constant(d, std::numeric_limits<double>::quiet_NaN());
  if (reads_entries(x) || weight.size() > 0) {
    of.range = column_range(x);
  } else {
    const auto look = look_at(x);
    of.range = look->range;
    sum = look->sum;
  }
  of.scale = of.range.unit_scales();
  of.mean = sum.cwiseProduct(of.scale) / n;
  if (!of.mean.allFinite()) {  // entries and weights are taken otherwise, and sums must be of scaled numbers
    of.mean = column_means(x, of.scale, weight);
    of.deviation = column_deviations(x, of.scale, of.mean, weight);
    return of;
  }
  // The second pass takes out the rounding of the first, which grows with the rows.
  const Second second = over_dense_rows(
      x, Second{Vector::Zero(d), Vector::Zero(d)},
      [&, s = of.scale.data(), m = of.mean.data()](Second& own, const double* row, Index, Stretch columns) {
        double* const rest = own.rest.data();
        double* const square = own.square.data();
        for (Index j = columns.begin; j < columns.end; ++j) {
          const double deviation = row[j] * s[j] - m[j];
          rest[j] += deviation;
          square[j] += deviation * deviation;
        }
      },
      [](Second& own, const Second& other) {
        own.rest += other.rest;
        own.square += other.square;
      });
  const Vector rest = second.rest / n;
  of.mean += rest;
  of.deviation = (second.square / n - rest.cwiseAbs2()).cwiseMax(0.0).cwiseSqrt();
  return of;
}

Vector means_of_present(const Design& x, const Vector& weight) {
  const Vector scale = column_range(x).unit_scales();
  Vector sum = Vector::Zero(x.cols());
  if (reads_entries(x)) {
    Vector present = Vector::Constant(x.cols(), total_weight(x, weight));  // zeros are values
    for_each_entry(x, weight, [&](Index j, double value, double own) {
      if (std::isnan(value)) {
        present[j] -= own;
      } else {
        sum[j] += own * (scale[j] * value);
      }
    });
    return sum.array() / present.array() / scale.array();
  }
  Vector count = Vector::Zero(x.cols());
  for_each_row(x, [&](Index i, const double* row) {
    const double own = weight.size() == 0 ? 1.0 : weight[i];
    for (Index j = 0; j < x.cols(); ++j)
      if (!std::isnan(row[j])) {
        sum[j] += own * (scale[j] * row[j]);
        count[j] += own;
      }
  });
  return sum.array() / count.array() / scale.array();  // 0 / 0 is NaN
}

std::vector<Index> complete_rows(const Design& x) {
  std::vector<Index> complete;
  if (x.omits_zeros()) {
    const RowsOf<SparseRow> rows(x);
    for (Index i = 0; i < x.rows(); ++i) {
      const SparseRow row = rows.row(i);
      if (std::none_of(row.value, row.value + row.size, [](double value) { return std::isnan(value); }))
        complete.push_back(i);
    }
    return complete;
  }
  for_each_row(x, [&](Index i, const double* row) {
    if (std::none_of(row, row + x.cols(), [](double value) { return std::isnan(value); }))
      complete.push_back(i);
  });
  return complete;
}

}  // namespace yosida
