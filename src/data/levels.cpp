#include "data/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "yosida/error.hpp"

namespace yosida {
namespace {

/// Calls take(feature, number) for each number of a row that is stored, features rising.
template <typename Take>
void for_each_stored(const double* row, std::span<const ColumnToEncode> columns, Take take) {
  Index first = 0;
  for (const ColumnToEncode& column : columns) {
    const double value = row[column.place];
    if (!column.is_category) {
      take(first, value);
    } else if (std::isnan(value)) {
      if (column.features > 0) take(first, value);
    } else if (const auto level = static_cast<Index>(value) - (column.drops_first ? 1 : 0); level >= 0) {
      take(first + level, 1.0);
    }
    first += column.features;
  }
}

}  // namespace

Levels::Levels(const std::vector<std::string>& given) {
  for (const std::string& text : given) code_of(text);
  forget_counts();
  is_given_ = true;
}

double Levels::code_of(std::string_view text) {
  const auto found = code_.find(text);
  if (found == code_.end() && is_given_) {
    if (unseen_++ == 0) first_unseen_ = text;
    return kUnseen;
  }
  present_ += text.empty() ? 0 : 1;
  return found != code_.end() ? found->second : add(text);
}

double Levels::add(std::string_view text) {
  constexpr std::uint64_t kBytesOfLevel = 160;  // the text twice, a node, a number elsewhere
  const auto code = static_cast<double>(texts_.size());
  texts_.emplace_back(text);
  code_.emplace(texts_.back(), code);
  bytes_ += 2 * text.size() + kBytesOfLevel;
  return code;
}

const std::vector<double>& Levels::take_over(Levels& others) {
  if (is_given_) {
    if (unseen_ == 0 && others.unseen_ > 0) first_unseen_ = others.first_unseen_;
    unseen_ += others.unseen_;
    others.unseen_ = 0;
  }
  const std::int64_t present = present_ + std::exchange(others.present_, 0);
  while (others.number_elsewhere_.size() < others.texts_.size())
    others.number_elsewhere_.push_back(code_of(others.texts_[others.number_elsewhere_.size()]));
  present_ = present;
  return others.number_elsewhere_;
}

void Levels::exchange(Archive& archive) {
  archive.exchange(present_);
  archive.exchange(texts_, [&](std::string& text) { archive.exchange(text); });
}

std::vector<double> Levels::sort() {
  std::vector<std::size_t> order(texts_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return texts_[a] < texts_[b]; });
  std::vector<double> number(texts_.size());
  std::vector<std::string> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    number[order[i]] = static_cast<double>(i);
    sorted.push_back(std::move(texts_[order[i]]));
  }
  texts_ = std::move(sorted);
  code_.clear();
  return number;
}

Design encoded(const double* values, Index rows, Index width, std::span<const ColumnToEncode> columns,
               bool dense, const MemoryLimit& limit, const std::string& source) {
  constexpr Index kSparse = 4;
  constexpr std::uint64_t kBytesOfEntry = sizeof(double) + sizeof(std::int32_t), kBytesOfColumn = 256;
  Index features = 0;
  for (const ColumnToEncode& column : columns) features += column.features;
  const auto stored = static_cast<Index>(columns.size());
  const bool is_sparse = !dense && kSparse * stored <= features;
  const auto count = static_cast<std::uint64_t>(rows);
  const auto wide = static_cast<std::uint64_t>(features);
  const std::uint64_t bytes =
      is_sparse ? kBytesOfEntry * count * static_cast<std::uint64_t>(stored) + kBytesOfColumn * wide
                : sizeof(double) * count * wide;
  if (features > std::numeric_limits<std::int32_t>::max() || !limit.allows(bytes))
    throw limit.refusal(
        fmt::format("{}: {} rows of {} features, one for each level of a category", source, rows, features),
        bytes);
  if (is_sparse) {
    SparseRows sparse;
    sparse.columns = features;
    sparse.row_start.reserve(static_cast<std::size_t>(rows) + 1);
    sparse.column.reserve(static_cast<std::size_t>(rows * stored));
    sparse.value.reserve(static_cast<std::size_t>(rows * stored));
    for (Index i = 0; i < rows; ++i) {
      for_each_stored(values + i * width, columns, [&](Index feature, double value) {
        sparse.column.push_back(static_cast<std::int32_t>(feature));
        sparse.value.push_back(value);
      });
      sparse.row_start.push_back(static_cast<std::int64_t>(sparse.value.size()));
    }
    return sparse;
  }
  Matrix full = Matrix::Zero(rows, features);
  for (Index i = 0; i < rows; ++i)
    for_each_stored(values + i * width, columns,
                    [&](Index feature, double value) { full(i, feature) = value; });
  return Design(std::move(full));
}

}  // namespace yosida
