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
constexpr Index kFewest = 10;
/// Of more levels than this nobody reads a note.
constexpr std::size_t kMostLevels = 1000;

/// What people and programs write where a number is not known.
bool is_mark(double number) {
  constexpr std::array kMarks = {99.0, 999.0, 9999.0, 99999.0, 999999.0};
  return number == -9.0 || std::find(kMarks.begin(), kMarks.end(), std::abs(number)) != kMarks.end();
}

/// The numbers of a column, of the rows that are looked at.
struct Numbers {
  const double* first;
  Index stride;
  Index size;

  double operator[](Index row) const { return first[row * stride]; }
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double number) {
    low = std::min(low, number);
    high = std::max(high, number);
  }
};

/// How often a mark stands among numbers that are far from it; 0 where it may be one of them.
std::int64_t count_of_mark(const Numbers& numbers, double mark) {
  std::int64_t count = 0;
  Range others;
  for (Index row = 0; row < numbers.size; ++row) {
    if (numbers[row] == mark)
      ++count;
    else if (std::isfinite(numbers[row]))
      others.add(numbers[row]);
  }
  if (count < 2 || !(others.low < others.high)) return 0;
  const bool is_only_negative = mark < 0.0 && others.low >= 0.0;
  const double distance = mark < others.low ? others.low - mark : mark - others.high;
  return is_only_negative || distance > others.high - others.low ? count : 0;
}

bool counts_rows(const Numbers& numbers) {
  if (numbers.size < kFewest) return false;
  for (Index row = 1; row < numbers.size; ++row)
    if (numbers[row] != numbers[0] + static_cast<double>(row)) return false;
  return true;
}

std::string in_words(const Layout& layout, Index field) {
  const bool is_target = layout.role[static_cast<std::size_t>(field)] == Role::target;
  return fmt::format("{} {}", is_target ? "the target" : "column", layout.in_words(field));
}

std::optional<std::string> doubt_of_numbers(const Layout& layout, Index field, const Numbers& numbers,
                                            Index rows) {
  if (layout.role[static_cast<std::size_t>(field)] != Role::target && counts_rows(numbers))
    return fmt::format("{} only counts the rows; --ignore {} passes over it", in_words(layout, field),
                       word_of_list(layout.name_of(field), static_cast<std::size_t>(field)));
  Range all;
  for (Index row = 0; row < numbers.size; ++row) all.add(numbers[row]);
  for (const double mark : {all.low, all.high}) {
    const std::int64_t count = is_mark(mark) ? count_of_mark(numbers, mark) : 0;
    if (count > 0)
      return fmt::format(
          "{} has {:g} in {}{} rows, far from its other numbers; where that marks a missing value, leave the "
          "field empty",
          in_words(layout, field), mark, count,
          rows > kMostLooked ? fmt::format(" of the first {}", kMostLooked) : "");
  }
  return {};
}

std::optional<std::string> doubt_of_levels(const Layout& layout, Index field,
                                           const std::vector<std::string>& levels) {
  if (levels.size() > kMostLevels) return {};
  std::map<std::string, std::string_view> seen;
  for (const std::string& level : levels) {
    std::string plain;
    for (const char c : level)
      if (!is_blank(c)) plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (const auto [known, is_new] = seen.emplace(plain, level); !is_new) {
      const auto [first, second] = std::minmax<std::string_view>(known->second, level);
      return fmt::format("{} has {} and {}, which are taken for two levels", in_words(layout, field),
                         in_quotes(first), in_quotes(second));
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
      const auto slot = static_cast<std::size_t>(layout.slot[at]);
      doubt = doubt_of_levels(layout, field, table.levels[slot].texts());
    } else if (layout.kind[at].kind == ColumnKind::number) {
      const Numbers numbers = role == Role::target
                                  ? Numbers{table.y.data(), 1, looked}
                                  : Numbers{table.values.data() + layout.place[at], layout.features, looked};
      doubt = doubt_of_numbers(layout, field, numbers, table.rows);
    }
    if (doubt) notes.push_back(std::move(*doubt));
  }
  return notes;
}

}  // namespace yosida::csv
