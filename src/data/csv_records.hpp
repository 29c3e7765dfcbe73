#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_stream.hpp"
#include "data/formats.hpp"
#include "yosida/error.hpp"

// The text of a CSV file as records of fields.
namespace yosida::csv {

inline constexpr char quote = '"';
inline constexpr char whitespace = ' ';  // the delimiter that stands for any run of spaces and tabs

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline constexpr std::string_view no_break_space = "\xc2\xa0";

inline std::string_view trimmed(std::string_view text) {
  for (;;) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    if (text.starts_with(no_break_space)) {
      text.remove_prefix(no_break_space.size());
    } else if (text.ends_with(no_break_space)) {
      text.remove_suffix(no_break_space.size());
    } else {
      return text;
    }
  }
}

/// What stands between the fields of a file whose first line this is.
char delimiter_of(std::string_view first_line, Separator separator);

/// The text of one row: a line, or more where a quoted field spans lines.
struct Record {
  std::string_view text;
  std::uint64_t line = 0;  // its first
  bool has_quotes = false;
};

/// The records of a text one after the other.
class Records {
 public:
  Records(std::string_view text, std::string_view source, std::uint64_t lines_taken)
      : lines_(text, source, lines_taken),
        source_(source),
        has_quotes_(text.find(quote) != std::string_view::npos) {}

  std::optional<Record> next();
  /// Behind the last record.
  std::string_view rest() const { return lines_.rest(); }
  std::uint64_t lines_taken() const { return lines_.taken(); }

 private:
  TextLines lines_;
  std::string_view source_;
  bool has_quotes_;
};

/// The next records of some `bytes`, whole unless the file ends within one; empty at its end.
std::string_view next_records(ByteStream& stream, std::size_t bytes);

/// Throws InputError where `what`, up to this line, takes more memory than the stream's limit allows.
void require_memory(const ByteStream& stream, std::uint64_t bytes, std::string_view what, std::uint64_t line);

/// How the fields of a record stand apart.
struct Dialect {
  std::string source;  // for messages
  char delimiter = ',';

  bool is_delimiter(char c) const { return delimiter == whitespace ? is_blank(c) : c == delimiter; }
  /// Blank lines, and those of separators alone, are passed over at the end; elsewhere one is a row like any
  /// other.
  bool is_blank_line(std::string_view line) const {
    return std::all_of(line.begin(), line.end(), [this](char c) { return is_blank(c) || c == delimiter; });
  }
  /// A line of words without a separator, which no row of several columns is: a comment, or a remark below
  /// the table.
  bool is_remark(std::string_view line, Index columns) const;
  /// A record that has not as many fields as there are columns. The message says what may be the reason.
  InputError ragged(const Record& record, Index columns) const;
  /// The fields of a record, trimmed and without their quotes (RFC 4180). Throws InputError where a quote is
  /// not closed, or text follows it.
  std::vector<std::string> split(const Record& record) const;

  /// Calls take(field, text) for each of these, and returns how many there are.
  template <typename Take>
  Index for_each_field(const Record& record, Take take) const {
    Index field = 0;
    if (record.has_quotes) {
      for (const std::string& text : split(record)) take(field++, std::string_view(text));
      return field;
    }
    std::string_view rest = delimiter == whitespace ? trimmed(record.text) : record.text;
    for (;;) {
      const auto end = std::find_if(rest.begin(), rest.end(), [this](char c) { return is_delimiter(c); });
      take(field++, trimmed({rest.begin(), end}));
      if (end == rest.end()) return field;
      rest = {end + 1, rest.end()};
      while (delimiter == whitespace && is_blank(rest.front())) rest.remove_prefix(1);
    }
  }

 private:
  /// Takes a field off the front of `rest`, up to the delimiter behind it.
  std::string take_plain(std::string_view& rest) const;
  std::string take_quoted(std::string_view& rest, std::uint64_t line) const;
};

}  // namespace yosida::csv
