#include "data/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "data/formats.hpp"

namespace yosida::csv {
namespace {

/// So many rows tell what a column is like.
constexpr Index kMostLooked = 2000;
/// Fewer rows may count themselves by chance.
constexpr std::size_t kFewest = 10;
/// Of more levels than this nobody reads a note.
constexpr std::size_t kMostLevels = 1000;

/// What people and programs write where a number is not known.
bool is_mark(double number) {
  constexpr std::array kMarks = {9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0};
  return std::find(kMarks.begin(), kMarks.end(), std::abs(number)) != kMarks.end() && number != 9.0;
}

/// How often a mark stands among numbers that are far from it; 0 where it may be one of them.
std::int64_t count_of_mark(const std::vector<double>& numbers, double mark) {
  std::int64_t count = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double number : numbers) {
    if (number == mark) {
      ++count;
    } else if (std::isfinite(number)) {
      low = std::min(low, number);
      high = std::max(high, number);
    }
  }
  if (count < 2 || !(low < high)) return 0;
  const bool is_only_negative = mark < 0.0 && low >= 0.0;
  const double distance = mark < low ? low - mark : mark - high;
  return is_only_negative || distance > high - low ? count : 0;
}

std::optional<std::string> doubt_of_numbers(const Layout& layout, Index field,
                                            const std::vector<double>& numbers, Index rows) {
  const bool is_target = layout.role[static_cast<std::size_t>(field)] == Role::target;
  const std::string name = fmt::format("{} {}", is_target ? "the target" : "column", layout.in_words(field));
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool counts_rows = !is_target && numbers.size() >= kFewest;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    low = std::min(low, numbers[i]);
    high = std::max(high, numbers[i]);
    counts_rows = counts_rows && numbers[i] == numbers[0] + static_cast<double>(i);
  }
  if (counts_rows)
    return fmt::format("{} only counts the rows; --ignore {} passes over it", name,
                       word_of_list(layout.name_of(field), static_cast<std::size_t>(field)));
  for (const double mark : {low, high}) {
    const std::int64_t count = is_mark(mark) ? count_of_mark(numbers, mark) : 0;
    if (count > 0)
      return fmt::format(
          "{} has {:g} in {}{} rows, far from its other numbers; where that marks a missing value, leave the "
          "field empty",
          name, mark, count, rows > kMostLooked ? fmt::format(" of the first {}", kMostLooked) : "");
  }
  return {};
}

std::optional<std::string> doubt_of_levels(const std::string& name, const std::vector<std::string>& levels) {
  if (levels.size() > kMostLevels) return {};
  std::map<std::string, std::string_view> seen;
  for (const std::string& level : levels) {
    std::string plain;
    for (const char c : level)
      if (!is_blank(c)) plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (const auto [known, is_new] = seen.emplace(plain, level); !is_new) {
      const auto [first, second] = std::minmax<std::string_view>(known->second, level);
      return fmt::format("{} has {} and {}, which are taken for two levels", name, in_quotes(first),
                         in_quotes(second));
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> doubts_of(const Layout& layout, Table& table) {
  std::vector<std::string> notes;
  const Index looked = std::min(table.rows, kMostLooked);
  for (Index field = 0; field < layout.columns; ++field) {
    const auto at = static_cast<std::size_t>(field);
    const Role role = layout.role[at];
    if ((role != Role::feature && role != Role::target) || layout.kind[at].is_forced) continue;
    std::optional<std::string> doubt;
    if (layout.slot[at] >= 0) {
      const std::string name =
          fmt::format("{} {}", role == Role::target ? "the target" : "column", layout.in_words(field));
      doubt = doubt_of_levels(name, table.levels[static_cast<std::size_t>(layout.slot[at])].texts());
    } else if (layout.kind[at].kind == ColumnKind::number) {
      std::vector<double> numbers(static_cast<std::size_t>(looked));
      const double* const x = role == Role::target ? table.y.data() : table.values.data() + layout.place[at];
      const Index stride = role == Role::target ? 1 : layout.features;
      for (Index row = 0; row < looked; ++row) numbers[static_cast<std::size_t>(row)] = x[row * stride];
      doubt = doubt_of_numbers(layout, field, numbers, table.rows);
    }
    if (doubt) notes.push_back(std::move(*doubt));
  }
  return notes;
}

}  // namespace yosida::csv
