#include "yosida/data/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <numeric>
#include <tuple>

#include "linalg/ranks.hpp"
#include "linalg/row_keys.hpp"
#include "yosida/error.hpp"
#include "yosida/random.hpp"

namespace yosida {
namespace {

/// How many of `count` rows go to the validation and the test part.
std::pair<Index, Index> share(Index count, const SplitOptions& options) {
  const auto rows = static_cast<double>(count);
  const auto validation = static_cast<Index>(std::llround(rows * options.validation_fraction));
  const auto test = static_cast<Index>(std::llround(rows * options.test_fraction));
  return {validation, std::min(test, count - validation)};
}

/// Rows that are there, none of them twice.
void require_order(const Dataset& data, const std::vector<Index>& order) {
  std::vector<bool> taken(static_cast<std::size_t>(data.rows()), false);
  for (const Index row : order) {
    if (row < 0 || row >= data.rows())
      throw InputError(fmt::format("{}: there is no row {} for a split: rows are 0 to {}", data.source, row,
                                   data.rows() - 1));
    if (taken[static_cast<std::size_t>(row)])
      throw InputError(fmt::format("{}: row {} is in two parts of a split", data.source, row));
    taken[static_cast<std::size_t>(row)] = true;
  }
}

/// Makes rows rise in each part, in one look at all rows.
void put_in_order(Index rows, std::initializer_list<std::vector<Index>*> parts) {
  constexpr unsigned char kNone = 255;
  std::vector<unsigned char> part_of(static_cast<std::size_t>(rows), kNone);
  unsigned char number = 0;
  for (std::vector<Index>* part : parts) {
    for (const Index row : *part) part_of[static_cast<std::size_t>(row)] = number;
    part->clear();
    ++number;
  }
  for (Index row = 0; row < rows; ++row)
    if (const unsigned char part = part_of[static_cast<std::size_t>(row)]; part != kNone)
      parts.begin()[part]->push_back(row);
}

void require_fraction(const char* name, double value, bool zero_allowed) {
  if (!(value < 1.0) || !(zero_allowed ? value >= 0.0 : value > 0.0))
    throw InputError(fmt::format("{} = {}: must be {} 0 and < 1", name, value, zero_allowed ? ">=" : ">"));
}

}  // namespace

void require_classes_of_rows(const Dataset& data) {
  require_whole(data);
  if (data.y.size() != data.rows() || data.y.hasNaN())
    throw InputError(
        fmt::format("{}: rows are to be drawn by their classes: each of the {} rows needs a target",
                    data.source, data.rows()));
}

Split split_rows(const Dataset& data, const SplitOptions& options) {
  require_fraction("validation fraction", options.validation_fraction, false);
  require_fraction("test fraction", options.test_fraction, true);
  if (options.stratified) require_classes_of_rows(data);
  std::vector<Index> order(static_cast<std::size_t>(data.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  Random(options.seed).shuffle(order);

  std::map<double, std::vector<Index>> groups;  // by target where stratified, else one
  for (const Index row : order) groups[options.stratified ? data.y[row] : 0.0].push_back(row);
  std::vector<Index> train, validation, test;
  for (const auto& [value, rows] : groups) {
    const auto [n_validation, n_test] = share(static_cast<Index>(rows.size()), options);
    const auto validation_end = rows.begin() + n_validation;
    validation.insert(validation.end(), rows.begin(), validation_end);
    test.insert(test.end(), validation_end, validation_end + n_test);
    train.insert(train.end(), validation_end + n_test, rows.end());
  }
  const bool test_empty = options.test_fraction > 0.0 && test.empty();
  if (train.empty() || validation.empty() || test_empty)
    throw InputError(fmt::format(
        "{}: {} row{} split into {} training, {} validation and {} test rows (fractions {} and {}): each "
        "part needs at least 1 row",
        data.source, data.rows(), data.rows() == 1 ? "" : "s", train.size(), validation.size(), test.size(),
        options.validation_fraction, options.test_fraction));
  // Many rows are read in the order of the file: pages of a mapped one follow each other, and processes that
  // share rows have neighbours.
  if (data.rows() >= linalg::kSharedRows) put_in_order(data.rows(), {&train, &validation, &test});
  std::vector<Index> all = train;
  all.insert(all.end(), validation.begin(), validation.end());
  all.insert(all.end(), test.begin(), test.end());
  return split_rows(data, all, static_cast<Index>(train.size()), static_cast<Index>(validation.size()));
}

Dataset select_rows(const Dataset& data, std::span<const Index> rows) {
  require_whole(data);
  const auto taken = [&](const Vector& from) {
    Vector to(from.size() == 0 ? 0 : static_cast<Index>(rows.size()));
    for (Index i = 0; i < to.size(); ++i) to[i] = from[rows[static_cast<std::size_t>(i)]];
    return to;
  };
  const auto chosen = [&](const auto& from) {
    std::decay_t<decltype(from)> to;
    if (from.empty()) return to;
    to.reserve(rows.size());
    for (const Index row : rows) to.push_back(from[static_cast<std::size_t>(row)]);
    return to;
  };
  return {.x = data.x.select_rows(rows),  // first: it refuses rows that are not there
          .y = taken(data.y),
          .feature_names = data.feature_names,
          .target_name = data.target_name,
          .source = data.source,
          .weight = taken(data.weight),
          .weight_name = data.weight_name,
          .fold = taken(data.fold),
          .table = data.table,
          .row_number = chosen(data.row_number),
          .id = chosen(data.id),
          .id_name = data.id_name,
          .notes = data.notes};
}

Dataset in_order_of_contents(const Dataset& data) {
  require_whole(data);
  if (data.weight.hasNaN() || data.fold.hasNaN())
    throw InputError(
        fmt::format("{}: the weight or the fold of a row is NaN: both must be numbers", data.source));
  const std::vector<std::uint64_t> key = row_keys(data.x);
  // The target comes first: where all of them differ, neither the units of features nor their order matter.
  // Weights decide between equal rows only, so that weights of 1 leave the order as it is without any.
  const auto rank = [&](Index row) {
    const bool has_target = data.y.size() > 0 && !std::isnan(data.y[row]);
    return std::tuple(has_target ? data.y[row] : 0.0, key[static_cast<std::size_t>(row)],
                      data.weight.size() > 0 ? data.weight[row] : 1.0,
                      data.fold.size() > 0 ? data.fold[row] : 0.0);
  };
  std::vector<Index> order(key.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return rank(a) < rank(b); });
  return select_rows(data, order);
}

Split split_rows(const Dataset& data, const std::vector<Index>& order, Index train_rows,
                 Index validation_rows) {
  const auto used = static_cast<Index>(order.size());
  require_whole(data);
  require_order(data, order);
  if (train_rows < 0 || validation_rows < 0 || train_rows > used || validation_rows > used - train_rows)
    throw InputError(
        fmt::format("{}: {} training and {} validation rows of {} that are named: must be >= 0, and "
                    "no more than there are",
                    data.source, train_rows, validation_rows, used));
  const auto part = [&](Index begin, Index count) {
    return select_rows(
        data, std::span(order).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)));
  };
  Split split{.train = part(0, train_rows), .validation = part(train_rows, validation_rows), .test = {}};
  const Index rest = used - train_rows - validation_rows;
  if (rest > 0) split.test = part(train_rows + validation_rows, rest);
  return split;
}

Dataset train_and_validation(const Split& split) {
  require_whole(split.train);
  require_whole(split.validation);
  const bool joinable = split.train.features() == split.validation.features() &&
                        (split.train.y.size() == 0) == (split.validation.y.size() == 0);
  if (!joinable)
    throw InputError(
        fmt::format("{} and {}: training and validation rows must have the same features, and "
                    "targets in both or in none",
                    split.train.source, split.validation.source));
  Dataset both = split.train;
  both.row_number.clear();
  both.id.clear();
  both.x = stack_rows(split.train.x, split.validation.x);
  both.y.resize(split.train.y.size() + split.validation.y.size());
  both.y << split.train.y, split.validation.y;
  if (split.train.weight.size() > 0 || split.validation.weight.size() > 0) {
    both.weight = Vector::Ones(both.rows());
    if (split.train.weight.size() > 0) both.weight.head(split.train.rows()) = split.train.weight;
    if (split.validation.weight.size() > 0)
      both.weight.tail(split.validation.rows()) = split.validation.weight;
  }
  if (split.validation.source != split.train.source) both.source += " + " + split.validation.source;
  return both;
}

}  // namespace yosida
