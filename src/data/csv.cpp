#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "data/formats.hpp"
#include "yosida/error.hpp"
#include "yosida/utf8.hpp"

namespace yosida {
namespace {

constexpr char whitespace = ' ';  // the delimiter that stands for any run of spaces and tabs

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_missing_marker(std::string_view text) {
  return text.empty() || text == "?" || text == "NA" || text == "na";  // "nan" is read as a number
}

bool is_blank_line(std::string_view line, std::string_view blanks) {
  return line.find_first_not_of(blanks) == std::string_view::npos;
}

bool has_open_quote(std::string_view text) { return std::count(text.begin(), text.end(), '"') % 2 == 1; }

// The first of `candidates` that occurs in the line outside quotes.
char sniff_delimiter(std::string_view line, std::string_view candidates, char otherwise) {
  std::string bare;
  bool inside = false;
  for (const char c : line) {
    inside ^= c == '"';
    if (!inside) bare += c;
  }
  for (const char candidate : candidates) {
    if (bare.find(candidate) != std::string::npos) return candidate;
  }
  return otherwise;
}

char delimiter_of(std::string_view first_line, Separator separator) {
  switch (separator) {
    case Separator::comma:
      return sniff_delimiter(first_line, ",;\t", ',');
    case Separator::tab:
      return '\t';
    case Separator::sniffed:
      break;
  }
  return sniff_delimiter(trimmed(first_line), "\t,;", whitespace);
}

// The text of one row: a line, or more where a quoted field spans lines.
struct Record {
  std::string_view text;
  Index line = 0;  // its first
  bool has_quotes = false;
};

// What a column is for.
enum class Role : unsigned char { feature, target, weight, fold, ignored };

std::string_view words(Role role) {
  constexpr std::string_view all[] = {"feature", "target column", "column of weights", "column of folds",
                                      "column to ignore"};
  return all[static_cast<std::size_t>(role)];
}

std::string_view broken_rule(double number, Role role, Missing missing) {
  if (std::isnan(number) && missing != Missing::drop && (role == Role::weight || role == Role::fold))
    return "must be a number; tune --missing drop leaves out such rows";
  return broken_rule(number, role == Role::target, missing);
}

Vector as_vector(const std::vector<double>& numbers) {
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

class CsvReader {
 public:
  CsvReader(ByteStream& stream, const ReadOptions& options) : stream_(stream), options_(options) {}

  Dataset read(Separator separator) {
    auto record = next_record();
    while (record && is_blank_line(record->text, " ")) record = next_record();
    if (!record) throw InputError(fmt::format("{}: holds no rows, only blank lines", stream_.name()));
    delimiter_ = delimiter_of(record->text, separator);
    line_ = record->line;
    require_memory_for_header(record->text);
    const std::vector<std::string> first = split(record->text);
    columns_ = static_cast<Index>(first.size());
    const bool has_header = std::any_of(first.begin(), first.end(), [](const std::string& text) {
      return !is_missing_marker(text) && !parse_number(text);
    });
    if (has_header) name_columns(first);
    give_roles();
    features_ = std::count(role_.begin(), role_.end(), Role::feature);

    if (!has_header) read_row(*record);
    read_rows();
    if (rows_ == 0) throw InputError(fmt::format("{}: holds a header but no rows below it", stream_.name()));
    return dataset();
  }

 private:
  // A field may be a single byte in the file; with its name it is some ten times as long here.
  void require_memory_for_header(std::string_view text) const {
    constexpr std::uint64_t bytes_of_field = 256;
    const auto fields = static_cast<std::uint64_t>(std::count_if(
                            text.begin(), text.end(), [this](char c) { return is_delimiter(c); })) +
                        1;
    require_memory(bytes_of_field * fields, fmt::format("a line of {} fields", fields));
  }

  void require_memory(std::uint64_t bytes, std::string_view what) const {
    if (!stream_.limit().allows(bytes))
      throw stream_.limit().refusal(fmt::format("{}:{}: {}", stream_.name(), lines_read_, what), bytes);
  }

  void name_columns(const std::vector<std::string>& header) {
    names_ = header;
    std::map<std::string_view, Index> field_of;
    for (Index field = 0; field < columns_; ++field) {
      if (!utf8::is_valid(names_[field])) {
        throw InputError(fmt::format(
            "{}:{}: field {} is not UTF-8: a header must be; iconv -f latin1 -t utf-8 converts the file",
            stream_.name(), line_, field + 1));
      }
      const auto [entry, is_new] = field_of.emplace(names_[field], field);
      if (!is_new) {
        throw InputError(
            fmt::format("{}:{}: fields {} and {} are both named {}: the names of a header must differ",
                        stream_.name(), line_, entry->second + 1, field + 1, in_quotes(names_[field])));
      }
    }
  }

  void give_roles() {
    role_.assign(static_cast<std::size_t>(columns_), Role::feature);
    if (const auto column = target_column(stream_.name(), options_, columns_, names_))
      give(*column, Role::target);
    const auto give_named = [&](const std::string& name, Role role) {
      give(column_named(stream_.name(), words(role), name, columns_, names_), role);
    };
    if (!options_.weight.empty()) give_named(options_.weight, Role::weight);
    if (!options_.fold.empty() && !(options_.fold_optional && !has_column(options_.fold)))
      give_named(options_.fold, Role::fold);
    for (const std::string& name : options_.ignore) give_named(name, Role::ignored);
    if (options_.only.empty()) return;
    const std::set<std::string_view> wanted(options_.only.begin(), options_.only.end());
    for (std::size_t field = 0; field < names_.size(); ++field) {
      if (role_[field] == Role::feature && !wanted.contains(names_[field])) role_[field] = Role::ignored;
    }
  }

  bool has_column(const std::string& name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
  }

  void give(Index column, Role role) {
    Role& current = role_[column];
    if (current != Role::feature && current != role) {
      throw InputError(fmt::format(
          "{}: column {} is both the {} and the {}: it can be one of them", stream_.name(),
          names_.empty() ? std::to_string(column) : in_quotes(names_[column]), words(current), words(role)));
    }
    current = role;
  }

  void read_rows() {
    // Blank lines are passed over at the end; elsewhere one is a row like any other.
    const std::string_view blanks = delimiter_ == '\t' ? " " : " \t";
    std::vector<Index> blank_lines;
    while (const auto record = next_record()) {
      if (is_blank_line(record->text, blanks)) {
        blank_lines.push_back(record->line);
        require_memory(blank_lines.size() * sizeof(Index), "the number of blank lines");
        continue;
      }
      for (const Index line : blank_lines) read_blank_row(line);
      blank_lines.clear();
      read_row(*record);
    }
  }

  void read_blank_row(Index line) {
    if (columns_ > 1) {
      throw InputError(fmt::format("{}:{}: the line is blank where {} fields are expected", stream_.name(),
                                   line, columns_));
    }
    read_row({.text = "", .line = line});
  }

  void read_row(const Record& record) {
    line_ = record.line;
    ++rows_;
    require_memory(sizeof(double) * static_cast<std::uint64_t>(rows_ * columns_), "the table up to here");
    double* out = values_.append(features_);
    if (record.has_quotes) {
      read_quoted_row(record.text, out);
    } else {
      read_plain_row(delimiter_ == whitespace ? trimmed(record.text) : record.text, out);
    }
  }

  void read_plain_row(std::string_view record, double* out) {
    const char* begin = record.data();
    const char* const end = begin + record.size();
    for (Index field = 0;; ++field) {
      if (field == columns_) throw ragged(record);
      double number = 0.0;
      const char* stop = read_number(begin, end, number);
      if (stop == nullptr) {
        stop = std::find_if(begin, end, [this](char c) { return is_delimiter(c); });
        number = checked_number(trimmed({begin, stop}), field);
      }
      out = store(number, field, out);
      if (stop == end) {
        if (field + 1 < columns_) throw ragged(record);
        return;
      }
      begin = stop + 1;
      while (delimiter_ == whitespace && is_blank(*begin)) ++begin;
    }
  }

  // Reads a field that is a plain finite number and gives its end, or nothing where it takes a closer look.
  // The time of a large file goes here: whole numbers of a few digits (pixels, counts) are read by hand,
  // which is several times as fast as from_chars.
  const char* read_number(const char* begin, const char* end, double& number) const {
    const auto is_field_end = [&](const char* at) { return at == end || is_delimiter(*at); };
    constexpr std::ptrdiff_t most_digits = 9;
    const char* stop = begin;
    std::uint32_t whole = 0;
    for (; stop != end && *stop >= '0' && *stop <= '9' && stop - begin < most_digits; ++stop) {
      whole = 10 * whole + static_cast<std::uint32_t>(*stop - '0');
    }
    if (stop != begin && is_field_end(stop)) {
      number = whole;
      return stop;
    }
    const auto parsed = std::from_chars(begin, end, number);
    const bool is_plain = parsed.ec == std::errc{} && is_field_end(parsed.ptr) && std::isfinite(number);
    return is_plain ? parsed.ptr : nullptr;
  }

  void read_quoted_row(std::string_view record, double* out) {
    const std::vector<std::string> fields = split(record);
    if (static_cast<Index>(fields.size()) != columns_) throw ragged(record);
    for (Index field = 0; field < columns_; ++field) {
      out = store(checked_number(fields[field], field), field, out);
    }
  }

  // Puts the number of a field where it belongs; gives the place in x for the next.
  double* store(double number, Index field, double* out) {
    switch (role_[field]) {
      case Role::feature:
        *out++ = number;
        break;
      case Role::target:
        y_.push_back(number);
        break;
      case Role::weight:
        if (number < 0.0) throw refusal(fmt::format("{}", number), field, "a row's weight must be >= 0");
        weight_.push_back(number);
        break;
      case Role::fold:
        fold_.push_back(number);
        break;
      case Role::ignored:
        break;
    }
    return out;
  }

  // The number that the text of a field is, NaN where the options let it be missing.
  double checked_number(std::string_view text, Index field) const {
    if (role_[field] == Role::ignored) return 0.0;
    const auto number =
        is_missing_marker(text) ? std::numeric_limits<double>::quiet_NaN() : parse_number(text);
    if (!number) throw refusal(text, field, "must be a number; encode text categories as numbers first");
    const std::string_view rule = broken_rule(*number, role_[field], options_.missing);
    if (!rule.empty()) throw refusal(text, field, rule);
    return *number;
  }

  Dataset dataset() {
    Dataset data;
    const auto values = values_.release(rows_ * features_);
    data.x = dense_view(values.get(), rows_, features_, features_, values);
    data.y = as_vector(y_);
    data.weight = as_vector(weight_);
    data.weight_name = options_.weight;
    data.fold = as_vector(fold_);
    for (std::size_t field = 0; field < names_.size(); ++field) {
      if (role_[field] == Role::target) data.target_name = names_[field];
      if (role_[field] == Role::feature) data.feature_names.push_back(names_[field]);
    }
    data.source = stream_.name();
    return data;
  }

  // The next record, valid until the next call; nothing at the end.
  std::optional<Record> next_record() {
    const auto line = stream_.next_line();
    if (!line) return std::nullopt;
    Record record{
        .text = *line, .line = ++lines_read_, .has_quotes = line->find('"') != std::string_view::npos};
    if (!record.has_quotes || !has_open_quote(*line)) return record;
    joined_ = *line;
    for (bool is_open = true; is_open;) {
      const auto next = stream_.next_line();
      if (!next) throw unclosed_quote(record.line);
      ++lines_read_;
      joined_ += '\n';
      joined_ += *next;
      require_memory(2 * joined_.size(), "the quoted field");
      is_open = !has_open_quote(*next);
    }
    record.text = joined_;
    return record;
  }

  // The fields of a record, trimmed and without their quotes (RFC 4180).
  std::vector<std::string> split(std::string_view record) const {
    std::vector<std::string> fields;
    std::string_view rest = delimiter_ == whitespace ? trimmed(record) : record;
    for (;;) {
      while (!rest.empty() && is_blank(rest.front()) && rest.front() != delimiter_) rest.remove_prefix(1);
      fields.push_back(rest.starts_with('"') ? take_quoted(rest) : take_plain(rest));
      if (rest.empty()) return fields;
      rest.remove_prefix(1);
      while (delimiter_ == whitespace && is_blank(rest.front())) rest.remove_prefix(1);
    }
  }

  bool is_delimiter(char c) const { return delimiter_ == whitespace ? is_blank(c) : c == delimiter_; }

  // Takes a field off the front of `rest`, up to the delimiter behind it.
  std::string take_plain(std::string_view& rest) const {
    const auto end = std::find_if(rest.begin(), rest.end(), [this](char c) { return is_delimiter(c); });
    std::string field(trimmed({rest.begin(), end}));
    rest = {end, rest.end()};
    return field;
  }

  std::string take_quoted(std::string_view& rest) const {
    std::string field;
    rest.remove_prefix(1);
    for (;;) {
      const std::size_t quote = rest.find('"');
      if (quote == std::string_view::npos) throw unclosed_quote(line_);
      field += rest.substr(0, quote);
      rest.remove_prefix(quote + 1);
      if (!rest.starts_with('"')) break;
      field += '"';
      rest.remove_prefix(1);
    }
    while (!rest.empty() && !is_delimiter(rest.front())) {
      if (!is_blank(rest.front())) {
        throw InputError(fmt::format("{}:{}: text follows the closing quote of field {}", stream_.name(),
                                     line_, in_quotes(field)));
      }
      rest.remove_prefix(1);
    }
    return field;
  }

  InputError unclosed_quote(Index line) const {
    return InputError(fmt::format("{}:{}: a quoted field is opened but not closed", stream_.name(), line));
  }

  InputError ragged(std::string_view record) const {
    return InputError(fmt::format("{}:{}: expected {} fields but found {}", stream_.name(), line_, columns_,
                                  split(record).size()));
  }

  InputError refusal(std::string_view text, Index field, std::string_view rule) const {
    const std::string name = names_.empty() ? "" : fmt::format(" ({})", in_quotes(names_[field]));
    return InputError(fmt::format("{}:{}: field {}{} is {}: {}", stream_.name(), line_, field + 1, name,
                                  text.empty() ? "empty" : in_quotes(text), rule));
  }

  ByteStream& stream_;
  const ReadOptions& options_;
  char delimiter_ = ',';
  Index columns_ = 0;
  Index features_ = 0;
  std::vector<std::string> names_;
  std::vector<Role> role_;

  NumberBuffer values_;
  std::vector<double> y_, weight_, fold_;
  Index rows_ = 0;

  Index lines_read_ = 0;
  Index line_ = 0;  // of the record at hand, for messages
  std::string joined_;
};

}  // namespace

Dataset read_csv(ByteStream& stream, Separator separator, const ReadOptions& options) {
  return CsvReader(stream, options).read(separator);
}

}  // namespace yosida
