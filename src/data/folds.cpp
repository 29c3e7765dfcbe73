#include "yosida/data/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "linalg/row_numbers.hpp"
#include "yosida/error.hpp"
#include "yosida/random.hpp"

namespace yosida {

std::vector<Index> draw_folds(const Dataset& data, Index folds, bool stratified, std::uint64_t seed) {
  if (folds < 2) throw InputError(fmt::format("folds = {}: must be >= 2", folds));
  if (folds > data.rows())
    throw InputError(fmt::format("folds = {}: {} has {} row{}: each fold needs at least 1", folds,
                                 data.source, data.rows(), data.rows() == 1 ? "" : "s"));
  if (stratified) require_classes_of_rows(data);
  std::vector<Index> order(static_cast<std::size_t>(data.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  Random(seed).shuffle(order);
  std::map<double, std::vector<Index>> strata;  // by target where stratified, else one
  for (const Index row : order) strata[stratified ? data.y[row] : 0.0].push_back(row);
  std::vector<Index> fold(order.size());
  Index next = 0;  // goes on from one class to the next, so that the folds stay of one size
  for (const auto& [value, rows] : strata) {
    if (const auto count = static_cast<Index>(rows.size()); stratified && folds > count)
      throw InputError(fmt::format("folds = {}: class {} of {} has {} row{}: each fold needs at least 1",
                                   folds, value, data.source, count, count == 1 ? "" : "s"));
    for (const Index row : rows) fold[static_cast<std::size_t>(row)] = next++ % folds;
  }
  return fold;
}

namespace {

/// The rows of each group, the groups in a random order.
std::vector<std::vector<Index>> shuffled_groups(const std::vector<std::string>& group, std::uint64_t seed) {
  std::map<std::string_view, std::size_t> place;
  std::vector<std::vector<Index>> rows;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto [at, is_new] = place.emplace(group[i], rows.size());
    if (is_new) rows.emplace_back();
    rows[at->second].push_back(static_cast<Index>(i));
  }
  std::vector<Index> order(rows.size());
  std::iota(order.begin(), order.end(), Index{0});
  Random(seed).shuffle(order);
  std::vector<std::vector<Index>> shuffled;
  for (const Index each : order) shuffled.push_back(std::move(rows[static_cast<std::size_t>(each)]));
  return shuffled;
}

}  // namespace

std::vector<Index> draw_grouped_folds(const std::vector<std::string>& group, Index folds,
                                      std::uint64_t seed) {
  if (folds < 2) throw InputError(fmt::format("folds = {}: must be >= 2", folds));
  std::vector<std::vector<Index>> groups = shuffled_groups(group, seed);
  if (std::ssize(groups) < folds)
    throw InputError(
        fmt::format("folds = {}: there {} of rows: each fold needs at least 1", folds,
                    groups.size() == 1 ? "is 1 group" : fmt::format("are {} groups", groups.size())));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<Index> fold(group.size());
  std::vector<Index> size(static_cast<std::size_t>(folds), 0);
  for (const std::vector<Index>& rows : groups) {
    const auto smallest = std::min_element(size.begin(), size.end());
    for (const Index row : rows) fold[static_cast<std::size_t>(row)] = smallest - size.begin();
    *smallest += std::ssize(rows);
  }
  return fold;
}

Split split_grouped_rows(const Dataset& data, const std::vector<std::string>& group,
                         const SplitOptions& options) {
  if (static_cast<Index>(group.size()) != data.rows())
    throw InputError(fmt::format("{}: {} rows but {} groups of rows; each row needs one", data.source,
                                 data.rows(), group.size()));
  std::vector<Index> train, validation, test;
  const double rows = static_cast<double>(data.rows());
  const auto takes = [&](const std::vector<Index>& part, const std::vector<Index>& more, double fraction) {
    const double wanted = fraction * rows, now = static_cast<double>(part.size());
    return fraction > 0.0 && (part.empty() || std::abs(now + static_cast<double>(more.size()) - wanted) <
                                                  std::abs(now - wanted));
  };
  for (const std::vector<Index>& each : shuffled_groups(group, options.seed)) {
    std::vector<Index>& part = takes(validation, each, options.validation_fraction) ? validation
                               : takes(test, each, options.test_fraction)           ? test
                                                                                    : train;
    part.insert(part.end(), each.begin(), each.end());
  }
  if (train.empty() || validation.empty() || (options.test_fraction > 0.0 && test.empty()))
    throw InputError(fmt::format(
        "{}: its groups of rows give {} training, {} validation and {} test rows: each part needs "
        "at least 1 group",
        data.source, train.size(), validation.size(), test.size()));
  std::vector<Index> order = train;
  order.insert(order.end(), validation.begin(), validation.end());
  order.insert(order.end(), test.begin(), test.end());
  return split_rows(data, order, std::ssize(train), std::ssize(validation));
}

std::vector<Index> given_folds(const Dataset& data) {
  require_whole(data);
  if (data.fold.size() == 0 || data.fold.hasNaN())
    throw InputError(
        fmt::format("{}: each of the {} rows needs a fold, which is a number", data.source, data.rows()));
  const std::vector<double> values = distinct_of(data.x, data.fold);
  if (values.size() < 2)
    throw InputError(
        fmt::format("{}: every row is in fold {}: at least 2 folds are needed", data.source, values[0]));
  std::vector<Index> fold;
  for (const double value : data.fold)
    fold.push_back(std::distance(values.begin(), std::lower_bound(values.begin(), values.end(), value)));
  return fold;
}

std::vector<Split> fold_splits(const Dataset& data, const std::vector<Index>& fold_of_row) {
  if (static_cast<Index>(fold_of_row.size()) != data.rows())
    throw InputError(fmt::format("{}: {} rows but {} folds of rows; each row needs one", data.source,
                                 data.rows(), fold_of_row.size()));
  const std::set<Index> named(fold_of_row.begin(), fold_of_row.end());
  const auto folds = static_cast<Index>(named.size());
  if (folds < 2 || *named.begin() != 0 || *named.rbegin() != folds - 1)
    throw InputError(fmt::format(
        "{}: rows are in {} folds: must be at least 2, numbered from 0 without a gap", data.source, folds));
  std::vector<Split> splits;
  for (Index fold = 0; fold < folds; ++fold) {
    std::vector<Index> order(fold_of_row.size());
    std::iota(order.begin(), order.end(), Index{0});
    const auto held_out = std::stable_partition(order.begin(), order.end(), [&](Index row) {
      return fold_of_row[static_cast<std::size_t>(row)] != fold;
    });
    const Index train_rows = held_out - order.begin();
    splits.push_back(split_rows(data, order, train_rows, data.rows() - train_rows));
  }
  return splits;
}

}  // namespace yosida
