#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "data/column_look.hpp"
#include "data/csv_records.hpp"
#include "data/decimal.hpp"
#include "data/levels.hpp"

// Turns the records of a CSV file into rows of numbers.
namespace yosida::csv {

/// What a column is for.
enum class Role : unsigned char { feature, target, weight, fold, id, ignored };
std::string_view words(Role role);

/// A column of numbers holds something else: it may be what the whole column is.
struct UnexpectedText : InputError {
  using InputError::InputError;
};

/// What the columns of a table are, known before its rows are read.
struct Layout : Dialect {
  Index columns = 0;
  Index features = 0;
  std::vector<std::string> names;  // empty without a header
  std::vector<Role> role;
  std::vector<FieldKind> kind;
  std::vector<Index> slot;               // of the levels of a field; -1 where it has none
  std::vector<Index> place;              // of a feature in a row
  std::vector<std::size_t> like_fields;  // of the columns of another table that this one is read like
  std::vector<Levels> levels;            // as reading begins
  bool is_all_numbers = true;            // no field is to be kept or read as anything else
  bool has_text = false;                 // a feature is no plain number
  char decimal = '\0';                   // 0: plain numbers
  bool refuses_unseen = false;
  bool gives_hints = true;  // a message may name flags that read a column otherwise
  Missing missing = Missing::refuse;

  /// The number of bytes that a table of so many rows takes.
  std::uint64_t bytes(Index rows) const {
    return sizeof(double) * static_cast<std::uint64_t>(rows * columns);
  }
  /// What messages and options call a column.
  std::string name_of(Index field) const {
    return names.empty() ? std::to_string(field) : names[static_cast<std::size_t>(field)];
  }
  /// The same in a sentence: a name stands in quotes.
  std::string in_words(Index field) const {
    return names.empty() ? name_of(field) : in_quotes(name_of(field));
  }
  bool takes_plain_numbers(Index field) const {
    const auto at = static_cast<std::size_t>(field);
    return kind[at].kind == ColumnKind::number && kind[at].unit.empty() && decimal != ',' &&
           role[at] != Role::id && role[at] != Role::ignored;
  }
};

/// Rows as they were read: numbers, and for a text the number of its level.
struct Table {
  NumberBuffer values;
  std::vector<double> y, weight, fold;
  std::vector<std::string> id;
  std::vector<Levels> levels;  // by slot
  Index rows = 0;

  void append(Table& part, const Layout& layout);
  /// Keeps the levels that they had.
  void drop_rows();
  /// Forgets how many had them, too.
  void clear();
};

/// Turns records into the rows of a table.
class RowReader {
 public:
  RowReader(const Layout& layout, Table& table) : layout_(layout), table_(table) {}

  void read(const Record& record) {
    line_ = record.line;
    ++table_.rows;
    double* out = table_.values.append(static_cast<std::size_t>(layout_.features));
    if (record.has_quotes) {
      read_quoted_row(record, out);
    } else if (layout_.is_all_numbers) {
      read_plain_row<true>(record, out);
    } else {
      read_plain_row<false>(record, out);
    }
  }

 private:
  template <bool AllNumbers>
  void read_plain_row(const Record& record, double* out) {
    const std::string_view text = layout_.delimiter == whitespace ? trimmed(record.text) : record.text;
    const char* begin = text.data();
    const char* const end = begin + text.size();
    for (Index field = 0;; ++field) {
      if (field == layout_.columns) {
        if (is_empty_from(begin, end)) return;  // programs write separators behind the last field
        throw layout_.ragged(record, layout_.columns);
      }
      double number = 0.0;
      const char* stop = nullptr;
      if (AllNumbers || layout_.takes_plain_numbers(field)) stop = read_number(begin, end, number);
      if (stop == nullptr) {
        stop = std::find_if(begin, end, [this](char c) { return layout_.is_delimiter(c); });
        number = value_of(trimmed({begin, stop}), field);
      }
      out = store(number, field, out);
      if (stop == end) {
        if (field + 1 < layout_.columns) throw layout_.ragged(record, layout_.columns);
        return;
      }
      begin = stop + 1;
      while (layout_.delimiter == whitespace && is_blank(*begin)) ++begin;
    }
  }

  bool is_empty_from(const char* begin, const char* end) const {
    return std::all_of(begin, end, [this](char c) { return is_blank(c) || layout_.is_delimiter(c); });
  }

  // Reads a field that is a plain finite number and gives its end, or nothing where it takes a closer look.
  const char* read_number(const char* begin, const char* end, double& number) const {
    const auto is_field_end = [&](const char* at) { return at == end || layout_.is_delimiter(*at); };
    const char* stop = decimal::read(begin, end, number);
    if (stop != nullptr && is_field_end(stop)) return stop;
    const auto parsed = std::from_chars(begin, end, number);
    const bool is_plain = parsed.ec == std::errc{} && is_field_end(parsed.ptr) && std::isfinite(number);
    return is_plain ? parsed.ptr : nullptr;
  }

  void read_quoted_row(const Record& record, double* out);

  // Puts the number of a field where it belongs; gives the place in x for the next.
  double* store(double number, Index field, double* out) {
    if (layout_.role[static_cast<std::size_t>(field)] == Role::feature) {
      *out = number;
      return out + 1;
    }
    store_apart(number, field);
    return out;
  }

  void store_apart(double number, Index field);
  /// What stands for the text of a field: its number, that of its level, NaN where the options let it be
  /// missing.
  double value_of(std::string_view text, Index field);
  double level_of(std::string_view text, Index field);
  double number_of(std::string_view text, Index field) const;
  std::string refused(std::string_view text, Index field, std::string_view rule) const;

  const Layout& layout_;
  Table& table_;
  std::uint64_t line_ = 0;  // of the record at hand, for messages
};

}  // namespace yosida::csv
