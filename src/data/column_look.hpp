#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linalg/archive.hpp"
#include "yosida/data/reader.hpp"

namespace yosida {

/// What the fields of one column look like, all of them together.
class ColumnLook {
 public:
  void add(std::string_view text, std::uint64_t line);
  /// Adds what was seen in the rows that follow, whose lines are counted from 0.
  void append(const ColumnLook& behind, std::uint64_t lines_before);

  /// What another process has seen.
  void exchange(Archive& archive);

  bool has_values() const { return values_ > 0; }
  bool has_gaps() const { return gaps_ > 0; }
  /// Whether it has as many gaps as another column, the first of them in the same line.
  bool has_gaps_of(const ColumnLook& other) const {
    return gaps_ == other.gaps_ && first_gap_.line == other.first_gap_.line;
  }
  bool has_infinite() const { return has_infinite_; }
  bool is_plain() const { return plain_ == values_; }
  /// Whether all fields are numbers with this decimal mark and its separators of thousands; 0: plain numbers.
  bool is_number(char decimal) const {
    return (decimal == '.' ? dot_ : decimal == ',' ? comma_ : bare_) == values_ && !differs_;
  }
  /// Numbers, but not all with the same unit.
  bool has_many_units() const { return differs_ && strange_ == 0 && (dot_ == values_ || comma_ == values_); }
  /// The unit that all fields have behind their numbers.
  const std::string& unit() const { return unit_; }
  /// Numbers, of which some are infinite.
  bool has_infinite_numbers() const { return infinite_ > 0 && plain_ + infinite_ == values_; }
  bool is_boolean() const { return boolean_ == values_; }
  bool is_date(DateOrder order) const { return date_[static_cast<std::size_t>(order)] == values_; }
  /// Dates, but no order reads all of them.
  bool has_many_orders() const { return any_date_ == values_; }
  /// At least half of its fields are dates, in one of the orders.
  bool is_mostly_dates() const { return 2 * any_date_ >= values_; }
  std::int64_t dates() const { return any_date_; }
  std::int64_t values() const { return values_; }
  /// At least half of its fields are numbers.
  bool is_mostly_numbers() const { return 2 * plain_ >= values_; }
  /// All but a few are: the others are notes in the place of a number.
  bool is_numbers_and_notes() const { return 5 * plain_ >= 4 * values_; }

  /// A field of it, and where it stands.
  struct Example {
    std::string text;
    std::uint64_t line = 0;  // 0: there is none
  };
  const Example& first_gap() const { return first_gap_; }
  /// The first field that is no plain number.
  const Example& first_text() const { return first_text_; }
  const Example& first_value() const { return first_value_; }
  /// The first field that is no date in any order.
  const Example& first_no_date() const { return first_no_date_; }
  /// The first field whose unit is not that of the fields before it.
  const Example& first_of_other_unit() const { return first_other_; }

 private:
  std::int64_t values_ = 0, gaps_ = 0;  // fields that are there, and that are missing
  std::int64_t plain_ = 0, comma_ = 0, dot_ = 0, boolean_ = 0;
  std::int64_t bare_ = 0;  // plain numbers, but for a unit or how their sign is written
  std::int64_t infinite_ = 0;
  std::int64_t strange_ = 0;  // with a unit that is none of those known
  std::string unit_;          // of the first field that is there
  bool differs_ = false;      // another has another unit
  bool has_infinite_ = false;
  std::array<std::int64_t, 3> date_{};
  std::int64_t any_date_ = 0;  // in one of the orders
  Example first_gap_, first_value_, first_text_, first_other_, first_no_date_;
};

/// What a field of the file is taken for.
struct FieldKind {
  ColumnKind kind = ColumnKind::number;
  DateOrder order = DateOrder::year_month_day;
  bool is_forced = false;  // by the options: text in a column of numbers is a missing value
  std::string unit = {};   // of a number
};

/// A column as messages and options call it, and what is known of it.
struct LookedAt {
  std::string name;   // or its index from 0
  std::size_t field;  // from 0
  bool has_name;
  bool is_target;
  bool is_group;   // says which fold a row is in: a number, or a name
  bool is_forced;  // the options say what it is
  FieldKind kind;
  ColumnLook look;
};

/// Which line of which file a line is, where those of several files are counted on.
class SourceLines {
 public:
  /// A file whose lines come behind so many of others.
  void add(std::string source, std::uint64_t lines_before);
  std::uint64_t before() const { return sources_.back().second; }
  /// The file of a line, and its number there.
  std::pair<std::string, std::uint64_t> at(std::uint64_t line) const;

 private:
  std::vector<std::pair<std::string, std::uint64_t>> sources_;
};

/// The decimal mark of the file; 0 where nothing says so, and only plain numbers are any.
char decimal_of(const std::vector<LookedAt>& columns);

/// Sets the kind of each column that the options leave open. Throws TableError, with all columns that cannot
/// be read as they are, and the flags that go on.
void decide_kinds(std::vector<LookedAt>& columns, const SourceLines& lines, char decimal, char delimiter,
                  Missing missing);

/// "bad.csv:3: field 2 ("age") is "tall": must be a number"
std::string refused_field(const std::string& source, std::uint64_t line, std::size_t field,
                          const std::string& name, std::string_view text, std::string_view rule);

}  // namespace yosida
