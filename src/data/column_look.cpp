#include "data/column_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "data/field.hpp"
#include "data/formats.hpp"

namespace yosida {
namespace {

constexpr std::array<DateOrder, 3> kOrders = {DateOrder::year_month_day, DateOrder::day_month_year,
                                              DateOrder::month_day_year};

/// A column that cannot be read as it is.
struct BadColumn {
  const LookedAt* column;
  ColumnLook::Example example;
  std::string rule;
  std::string list = "--ignore";  // the flag whose list of columns it joins to be read; empty: none
  std::string flags = {};         // what else that needs
};

/// All of them in one message: the first in full, the others by name, place and value.
TableError refusal_of(std::vector<BadColumn> bad, const SourceLines& lines) {
  std::stable_sort(bad.begin(), bad.end(), [](const BadColumn& a, const BadColumn& b) {
    return std::tuple(a.example.line, a.column->field) < std::tuple(b.example.line, b.column->field);
  });
  const BadColumn& first = bad.front();
  const auto name_of = [](const LookedAt& column) { return column.has_name ? column.name : ""; };
  const auto [source, line] = lines.at(first.example.line);
  std::string message = refused_field(source, line, first.column->field, name_of(*first.column),
                                      first.example.text, first.rule);
  const auto place_of = [&lines, &source = source](std::uint64_t of_all) {
    const auto [file, number] = lines.at(of_all);
    return file == source ? fmt::format("line {}", number) : fmt::format("{}:{}", file, number);
  };
  constexpr std::size_t kMostShown = 12;
  for (std::size_t i = 1; i < std::min(bad.size(), kMostShown); ++i)
    message += fmt::format("{}{} ({}: {})", i == 1 ? "\n  and so are the columns: " : ", ",
                           in_quotes(bad[i].column->name), place_of(bad[i].example.line),
                           bad[i].example.text.empty() ? "empty" : in_quotes(bad[i].example.text));
  if (bad.size() > kMostShown) message += fmt::format(" and {} more", bad.size() - kMostShown);
  std::vector<std::string> flags;
  for (const std::string_view list : {"--ignore", "--numeric", "--categorical"}) {
    std::vector<std::string> names;
    for (const BadColumn& each : bad)
      if (each.list == list && !(each.column->is_target && list == "--ignore"))
        names.push_back(word_of_list(each.column->name, each.column->field));
    if (!names.empty()) flags.push_back(fmt::format("{} {}", list, fmt::join(names, ",")));
  }
  for (const BadColumn& each : bad)
    if (!each.flags.empty() && std::find(flags.begin(), flags.end(), each.flags) == flags.end())
      flags.push_back(each.flags);
  // Rows without a target can only be left out, which leaves out other gaps with them.
  if (std::find(flags.begin(), flags.end(), "--missing drop") != flags.end())
    std::erase(flags, "--missing mean");
  const bool is_hopeless = std::any_of(bad.begin(), bad.end(), [](const BadColumn& each) {
    return each.column->is_target && each.list == "--ignore";
  });
  if (is_hopeless) return {message + "\n  no flag reads such a target: change it in the file", ""};
  const std::string correction = fmt::format("{}", fmt::join(flags, " "));
  return {fmt::format("{}\n  it can be read with {}", message, correction), correction};
}

/// A column of numbers, but for some rows.
BadColumn with_other_text(const LookedAt& column) {
  const ColumnLook& look = column.look;
  const bool is_infinite = look.has_infinite_numbers();
  const bool has_gaps = column.is_target || is_infinite || look.is_numbers_and_notes();
  const std::string_view rule =
      is_infinite
          ? "must be a finite number; --numeric {} reads it as a missing value"
          : "must be a number, as most of its column are; --numeric {0} reads such text as a missing value, "
            "--categorical {0} takes all of it for text";
  return {.column = &column,
          .example = look.first_text(),
          .rule = fmt::format(fmt::runtime(rule), word_of_list(column.name, column.field)),
          .list = has_gaps ? "--numeric" : "--categorical",
          .flags = column.is_target ? "--missing drop"
                   : has_gaps       ? "--missing mean"
                                    : ""};
}

/// A column of dates, but for some rows.
BadColumn with_other_dates(const LookedAt& column) {
  const ColumnLook& look = column.look;
  return {.column = &column,
          .example = look.first_no_date(),
          .rule = fmt::format(
              "must be a date, as {} of the {} fields of its column are; an empty field is a missing value, "
              "and --categorical {} takes all of it for text",
              look.dates(), look.values(), word_of_list(column.name, column.field)),
          .list = column.is_target ? "--categorical" : "--ignore"};
}

/// What is wrong with a column, if anything; sets its kind where nothing is.
std::optional<BadColumn> decide(LookedAt& column, char decimal, char delimiter) {
  const ColumnLook& look = column.look;
  FieldKind& kind = column.kind;
  if (column.is_forced || !look.has_values()) return {};
  if (column.is_group) {
    if (!look.is_plain()) kind.kind = ColumnKind::category;
    return {};
  }
  if (look.is_number(decimal)) {
    kind.unit = look.unit();
    return {};
  }
  if (look.has_many_units())
    return BadColumn{
        .column = &column,
        .example = look.first_of_other_unit().line > 0 ? look.first_of_other_unit() : look.first_text(),
        .rule = fmt::format("must be a number {}, as the first of its column is",
                            look.unit().empty() ? "without a unit" : "in " + look.unit())};
  if (decimal != '\0' && look.is_number('.') != look.is_number(','))
    return BadColumn{
        .column = &column,
        .example = look.first_value(),
        .rule = fmt::format("must be a number with the decimal mark {}: a table has one mark", decimal)};
  if (look.is_number('.') || look.is_number(','))
    return BadColumn{.column = &column,
                     .example = look.first_text(),
                     .rule =
                         "must be a number: is its comma a decimal mark (--decimal ,), or does it separate "
                         "thousands (--decimal .)?",
                     .list = "",
                     .flags = delimiter == ';' ? "--decimal ," : "--decimal ."};
  if (look.is_boolean() && !column.is_target) {
    kind.kind = ColumnKind::boolean;
    return {};
  }
  std::vector<DateOrder> orders;
  for (const DateOrder order : kOrders)
    if (look.is_date(order)) orders.push_back(order);
  if (orders.size() == 2)
    return BadColumn{.column = &column,
                     .example = look.first_text(),
                     .rule =
                         "must be a number or a date that says what is its day and what its month, as "
                         "2024-01-31 does"};
  if (!orders.empty()) {
    kind = {.kind = ColumnKind::date, .order = orders.front()};
    return {};
  }
  if (look.has_many_orders())
    return BadColumn{.column = &column,
                     .example = look.first_text(),
                     .rule =
                         "must be a date in the order of the others of its column: year, month and day "
                         "stand in several orders there"};
  if (look.is_mostly_dates()) return with_other_dates(column);
  if (look.is_mostly_numbers() || look.has_infinite_numbers()) return with_other_text(column);
  kind.kind = ColumnKind::category;
  return {};
}

/// Whether all columns of numbers are empty in the same rows, as far as their looks tell. Such a row says
/// nothing, or it is the sum below a table.
bool have_the_same_gaps(const std::vector<LookedAt>& columns) {
  const LookedAt* first = nullptr;
  int count = 0;
  for (const LookedAt& each : columns) {
    if (each.is_target || each.is_group || each.kind.kind != ColumnKind::number || !each.look.has_values())
      continue;
    if (first == nullptr) first = &each;
    if (!each.look.has_gaps() || !each.look.has_gaps_of(first->look)) return false;
    ++count;
  }
  return count > 1;
}

}  // namespace

void ColumnLook::add(std::string_view text, std::uint64_t line) {
  const auto plain = parse_number(text);
  if (field::is_missing(text) || (plain && std::isnan(*plain))) {
    if (gaps_++ == 0) first_gap_ = {.text = std::string(text), .line = line};
    return;
  }
  const auto note_first = [&](Example& first) {
    if (first.line == 0) first = {.text = std::string(text), .line = line};
  };
  note_first(first_value_);
  if (plain) note_first(first_no_date_);
  if (plain && std::isinf(*plain)) {
    ++values_;
    ++infinite_;
    note_first(first_text_);
    return;
  }
  const auto [number, unit, is_negative, is_strange] =
      plain ? field::Measured{text, {}} : field::without_unit(text);
  strange_ += is_strange;
  if (values_++ == 0) unit_ = unit;
  if (unit != unit_ && !differs_) {
    differs_ = true;
    note_first(first_other_);
  }
  plain_ += plain.has_value();
  has_infinite_ |= plain && std::isinf(*plain);
  const bool is_bare = plain || field::number(number, '\0');
  bare_ += is_bare;
  const bool has_marks = number.find_first_of(".,' \xc2\xe2") != std::string_view::npos;
  dot_ += is_bare || (has_marks && field::number(number, '.'));
  comma_ += has_marks ? field::number(number, ',').has_value() : is_bare;
  if (plain) return;
  note_first(first_text_);
  boolean_ += field::boolean(text).has_value();
  bool is_date = false;
  for (const DateOrder order : kOrders) {
    const bool is_one = field::date(text, order).has_value();
    date_[static_cast<std::size_t>(order)] += is_one;
    is_date |= is_one;
  }
  any_date_ += is_date;
  if (!is_date) note_first(first_no_date_);
}

void ColumnLook::append(const ColumnLook& behind, std::uint64_t lines_before) {
  const auto take = [&](Example& own, const Example& other) {
    if (own.line == 0 && other.line > 0) own = {.text = other.text, .line = other.line + lines_before};
  };
  take(first_gap_, behind.first_gap_);
  take(first_value_, behind.first_value_);
  take(first_text_, behind.first_text_);
  take(first_other_, behind.first_other_);
  take(first_no_date_, behind.first_no_date_);
  if (values_ == 0) unit_ = behind.unit_;
  if (behind.values_ > 0) differs_ |= behind.differs_ || behind.unit_ != unit_;
  values_ += behind.values_;
  gaps_ += behind.gaps_;
  plain_ += behind.plain_;
  bare_ += behind.bare_;
  infinite_ += behind.infinite_;
  strange_ += behind.strange_;
  has_infinite_ |= behind.has_infinite_;
  comma_ += behind.comma_;
  dot_ += behind.dot_;
  boolean_ += behind.boolean_;
  for (std::size_t i = 0; i < date_.size(); ++i) date_[i] += behind.date_[i];
  any_date_ += behind.any_date_;
}

void ColumnLook::exchange(Archive& archive) {
  for (std::int64_t* count : {&values_, &gaps_, &plain_, &comma_, &dot_, &boolean_, &bare_, &infinite_,
                              &strange_, date_.data(), &date_[1], &date_[2], &any_date_})
    archive.exchange(*count);
  archive.exchange(differs_);
  archive.exchange(has_infinite_);
  archive.exchange(unit_);
  for (Example* example : {&first_gap_, &first_value_, &first_text_, &first_other_, &first_no_date_}) {
    archive.exchange(example->text);
    archive.exchange(example->line);
  }
}

char decimal_of(const std::vector<LookedAt>& columns) {
  bool wants_comma = false, wants_dot = false;
  for (const LookedAt& column : columns) {
    if (!column.look.has_values() || column.is_forced) continue;
    const bool dot = column.look.is_number('.'), comma = column.look.is_number(',');
    wants_comma |= comma && !dot;
    wants_dot |= dot && !comma;
  }
  // "1,234" alone decides nothing: it stays text, for a message.
  if (wants_comma == wants_dot) return wants_comma ? '.' : '\0';
  return wants_comma ? ',' : '.';
}

void SourceLines::add(std::string source, std::uint64_t lines_before) {
  sources_.emplace_back(std::move(source), lines_before);
}

std::pair<std::string, std::uint64_t> SourceLines::at(std::uint64_t line) const {
  auto found = sources_.rbegin();
  while (std::next(found) != sources_.rend() && found->second >= line) ++found;
  return {found->first, line - found->second};
}

void decide_kinds(std::vector<LookedAt>& columns, const SourceLines& lines, char decimal, char delimiter,
                  Missing missing) {
  std::vector<BadColumn> bad;
  for (LookedAt& column : columns) {
    if (auto found = decide(column, decimal, delimiter)) {
      bad.push_back(std::move(*found));
      continue;
    }
    const ColumnLook& look = column.look;
    const bool is_level = column.kind.kind == ColumnKind::category && !column.is_target;
    if (!look.has_gaps() || is_level || column.is_group || (!look.has_values() && !column.is_target) ||
        (column.is_forced && column.kind.kind == ColumnKind::number))
      continue;
    const double gap = std::nan("");
    const std::string_view rule = broken_rule(gap, column.is_target, missing);
    if (!rule.empty())
      bad.push_back({.column = &column,
                     .example = look.first_gap(),
                     .rule = std::string(rule),
                     .list = "",
                     .flags = column.is_target ? "--missing drop" : "--missing mean"});
  }
  if (bad.empty()) return;
  if (have_the_same_gaps(columns))
    for (BadColumn& each : bad)
      if (each.flags == "--missing mean") each.flags = "--missing drop";
  throw refusal_of(std::move(bad), lines);
}

std::string refused_field(const std::string& source, std::uint64_t line, std::size_t field,
                          const std::string& name, std::string_view text, std::string_view rule) {
  return fmt::format("{}:{}: field {}{} is {}: {}", source, line, field + 1,
                     name.empty() ? "" : fmt::format(" ({})", in_quotes(name)),
                     text.empty() ? "empty" : in_quotes(text), rule);
}

}  // namespace yosida
