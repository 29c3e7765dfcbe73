#include "linalg/row_numbers.hpp"

#include <algorithm>
#include <set>

#include "linalg/ranks.hpp"
#include "linalg/tasks.hpp"

namespace yosida {
namespace {

/// The numbers of all rows, for those who look at each: a process may have those of its own rows alone.
Vector of_all_rows(const Design& x, Vector numbers) {
  if (numbers.size() > 0) linalg::gather_rows(x.rows(), numbers.size() / x.rows(), numbers.data());
  return numbers;
}

using Row = std::pair<double, double>;
bool is_before(const Row& a, const Row& b) { return a.first < b.first; }

/// In parts that threads share, which are then merged by two: the same parts whatever threads there are.
void put_in_order(std::vector<Row>& rows) {
  constexpr Index kParts = 8;
  constexpr Index kOperations = 32;  // of a row
  const auto at = [&](Index part) { return rows.begin() + std::ssize(rows) * part / kParts; };
  linalg::run_tasks(kParts, kOperations * std::ssize(rows),
                    [&](Index part) { std::sort(at(part), at(part + 1), is_before); });
  for (Index width = 1; width < kParts; width *= 2)
    linalg::run_tasks(kParts / (2 * width), kOperations * std::ssize(rows), [&](Index pair) {
      const Index first = 2 * width * pair;
      std::inplace_merge(at(first), at(first + width), at(first + 2 * width), is_before);
    });
}

}  // namespace

double total_weight(const Design& x, const Vector& weight) {
  return weight.size() == 0 ? static_cast<double>(x.rows()) : sum_of(x, weight);
}

double largest_of(const Design& x, const Vector& numbers) {
  const auto largest = [](const auto& some) {
    return some.size() == 0 ? 0.0 : some.cwiseAbs().template maxCoeff<Eigen::PropagateNaN>();
  };
  const linalg::OwnRows rows = linalg::own_rows(x.rows());
  const double own = largest(numbers.segment(rows.first, rows.end - rows.first));
  const std::vector<double> all = linalg::gather_lists(x.rows(), {&own, 1}).numbers;
  return largest(Eigen::Map<const Vector>(all.data(), static_cast<Index>(all.size())));
}

std::vector<double> distinct_of(const Design& x, const Vector& numbers) {
  const linalg::OwnRows rows = linalg::own_rows(x.rows());
  std::set<double> values;
  for (Index i = rows.first; i < std::min(rows.end, numbers.size()); ++i) values.insert(numbers[i]);
  const std::vector<double> own(values.begin(), values.end());
  for (const double each : linalg::gather_lists(x.rows(), own).numbers) values.insert(each);
  return {values.begin(), values.end()};
}

bool is_constant(const Design& x, const Vector& numbers) {
  if (x.rows() == 0) return true;
  const Vector all = of_all_rows(x, numbers);
  return (all.array() == all[0]).all();
}

std::vector<Index> counts_of(const Design& x, Index kinds, KindOfRow kind) {
  std::vector<double> counts(static_cast<std::size_t>(kinds), 0.0);
  x.sum_rows(
      1,
      [&](Index first, Index count, double* sums) {
        for (Index i = first; i < first + count; ++i) sums[kind(i)] += 1.0;
        return 0.0;
      },
      counts);
  return {counts.begin(), counts.end()};
}

Index count_of(const Design& x, FunctionRef<bool(Index row)> holds) {
  return static_cast<Index>(x.sum_rows(1, [&](Index first, Index count, double*) {
    Index held = 0;
    for (Index i = first; i < first + count; ++i) held += holds(i) ? 1 : 0;
    return static_cast<double>(held);
  }));
}

std::vector<std::pair<double, double>> in_order_of(const Design& x, const Vector& key, const Vector& value) {
  const linalg::OwnRows own = linalg::own_rows(x.rows());
  std::vector<Row> rows;
  rows.reserve(static_cast<std::size_t>(own.end - own.first));
  for (Index i = own.first; i < own.end; ++i) rows.emplace_back(key[i], value[i]);
  put_in_order(rows);
  if (own.end - own.first == x.rows()) return rows;
  // Each process has put its own rows in order: here these are merged.
  std::vector<double> numbers;
  numbers.reserve(2 * rows.size());
  for (const Row& row : rows) numbers.insert(numbers.end(), {row.first, row.second});
  const linalg::GatheredLists all = linalg::gather_lists(x.rows(), numbers);
  rows.assign(all.numbers.size() / 2, Row());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {all.numbers[2 * i], all.numbers[2 * i + 1]};
  auto end = rows.begin();
  for (const Index count : all.counts) {
    const auto middle = end;
    end += count / 2;
    std::inplace_merge(rows.begin(), middle, end, is_before);
  }
  return rows;
}

}  // namespace yosida
