#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "data/decimal.hpp"
#include "data/formats.hpp"
#include "data/text_blocks.hpp"
#include "yosida/error.hpp"
#include "yosida/utf8.hpp"

namespace yosida {
namespace {

constexpr char quote = '"';
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

bool has_open_quote(std::string_view text) { return std::count(text.begin(), text.end(), quote) % 2 == 1; }

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
  std::uint64_t line = 0;  // its first
  bool has_quotes = false;
};

InputError unclosed_quote(std::string_view source, std::uint64_t line) {
  return InputError(fmt::format("{}:{}: a quoted field is opened but not closed", source, line));
}

// The records of a text one after the other.
class Records {
 public:
  Records(std::string_view text, std::string_view source, std::uint64_t lines_taken)
      : lines_(text, source, lines_taken),
        source_(source),
        has_quotes_(text.find(quote) != std::string_view::npos) {}

  std::optional<Record> next() {
    const auto line = lines_.next();
    if (!line) return std::nullopt;
    Record record{.text = *line, .line = lines_.taken()};
    if (!has_quotes_ || line->find(quote) == std::string_view::npos) return record;
    record.has_quotes = true;
    for (bool is_open = has_open_quote(*line); is_open;) {
      const auto next = lines_.next();
      if (!next) throw unclosed_quote(source_, record.line);
      record.text = {record.text.begin(), next->end()};
      is_open = !has_open_quote(*next);
    }
    return record;
  }

  // Behind the last record.
  std::string_view rest() const { return lines_.rest(); }
  std::uint64_t lines_taken() const { return lines_.taken(); }

 private:
  Lines lines_;
  std::string_view source_;
  bool has_quotes_;
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

// What the columns of a table are, known before its rows are read.
struct Layout {
  std::string source;
  char delimiter = ',';
  Index columns = 0;
  Index features = 0;
  std::vector<std::string> names;  // empty without a header
  std::vector<Role> role;
  Missing missing = Missing::refuse;

  bool is_delimiter(char c) const { return delimiter == whitespace ? is_blank(c) : c == delimiter; }
  // Blank lines are passed over at the end; elsewhere one is a row like any other.
  bool is_blank_line(std::string_view line) const {
    return line.find_first_not_of(delimiter == '\t' ? " " : " \t") == std::string_view::npos;
  }
  // The number of bytes that a table of so many rows takes.
  std::uint64_t bytes(Index rows) const {
    return sizeof(double) * static_cast<std::uint64_t>(rows * columns);
  }
};

// Rows as they were read.
struct Table {
  NumberBuffer values;
  std::vector<double> y, weight, fold;
  Index rows = 0;

  void append(Table& part, Index features) {
    const auto count = static_cast<std::size_t>(part.rows * features);
    std::copy_n(part.values.data(), count, values.append(count));
    y.insert(y.end(), part.y.begin(), part.y.end());
    weight.insert(weight.end(), part.weight.begin(), part.weight.end());
    fold.insert(fold.end(), part.fold.begin(), part.fold.end());
    rows += part.rows;
  }

  void clear() {
    values.clear();
    y.clear();
    weight.clear();
    fold.clear();
    rows = 0;
  }
};

// From records to the rows of a table.
class RowReader {
 public:
  RowReader(const Layout& layout, Table& table) : layout_(layout), table_(table) {}

  void read(const Record& record) {
    line_ = record.line;
    ++table_.rows;
    double* out = table_.values.append(static_cast<std::size_t>(layout_.features));
    if (record.has_quotes) {
      read_quoted_row(record.text, out);
    } else {
      read_plain_row(layout_.delimiter == whitespace ? trimmed(record.text) : record.text, out);
    }
  }

  // The fields of a record, trimmed and without their quotes (RFC 4180).
  std::vector<std::string> split(const Record& record) {
    line_ = record.line;
    return split(record.text);
  }

 private:
  void read_plain_row(std::string_view record, double* out) {
    const char* begin = record.data();
    const char* const end = begin + record.size();
    for (Index field = 0;; ++field) {
      if (field == layout_.columns) throw ragged(record);
      double number = 0.0;
      const char* stop = read_number(begin, end, number);
      if (stop == nullptr) {
        stop = std::find_if(begin, end, [this](char c) { return layout_.is_delimiter(c); });
        number = checked_number(trimmed({begin, stop}), field);
      }
      out = store(number, field, out);
      if (stop == end) {
        if (field + 1 < layout_.columns) throw ragged(record);
        return;
      }
      begin = stop + 1;
      while (layout_.delimiter == whitespace && is_blank(*begin)) ++begin;
    }
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

  void read_quoted_row(std::string_view record, double* out) {
    const std::vector<std::string> fields = split(record);
    if (static_cast<Index>(fields.size()) != layout_.columns) throw ragged(record);
    for (Index field = 0; field < layout_.columns; ++field) {
      out = store(checked_number(fields[field], field), field, out);
    }
  }

  // Puts the number of a field where it belongs; gives the place in x for the next.
  double* store(double number, Index field, double* out) {
    if (layout_.role[field] == Role::feature) {
      *out = number;
      return out + 1;
    }
    store_apart(number, field);
    return out;
  }

  void store_apart(double number, Index field) {
    switch (layout_.role[field]) {
      case Role::target:
        table_.y.push_back(number);
        break;
      case Role::weight:
        if (number < 0.0) throw refusal(fmt::format("{}", number), field, "a row's weight must be >= 0");
        table_.weight.push_back(number);
        break;
      case Role::fold:
        table_.fold.push_back(number);
        break;
      case Role::feature:
      case Role::ignored:
        break;
    }
  }

  // The number that the text of a field is, NaN where the options let it be missing.
  double checked_number(std::string_view text, Index field) const {
    if (layout_.role[field] == Role::ignored) return 0.0;
    const auto number =
        is_missing_marker(text) ? std::numeric_limits<double>::quiet_NaN() : parse_number(text);
    if (!number) throw refusal(text, field, "must be a number; encode text categories as numbers first");
    const std::string_view rule = broken_rule(*number, layout_.role[field], layout_.missing);
    if (!rule.empty()) throw refusal(text, field, rule);
    return *number;
  }

  std::vector<std::string> split(std::string_view record) const {
    std::vector<std::string> fields;
    std::string_view rest = layout_.delimiter == whitespace ? trimmed(record) : record;
    for (;;) {
      while (!rest.empty() && is_blank(rest.front()) && rest.front() != layout_.delimiter)
        rest.remove_prefix(1);
      fields.push_back(rest.starts_with(quote) ? take_quoted(rest) : take_plain(rest));
      if (rest.empty()) return fields;
      rest.remove_prefix(1);
      while (layout_.delimiter == whitespace && is_blank(rest.front())) rest.remove_prefix(1);
    }
  }

  // Takes a field off the front of `rest`, up to the delimiter behind it.
  std::string take_plain(std::string_view& rest) const {
    const auto end =
        std::find_if(rest.begin(), rest.end(), [this](char c) { return layout_.is_delimiter(c); });
    std::string field(trimmed({rest.begin(), end}));
    rest = {end, rest.end()};
    return field;
  }

  std::string take_quoted(std::string_view& rest) const {
    std::string field;
    rest.remove_prefix(1);
    for (;;) {
      const std::size_t end = rest.find(quote);
      if (end == std::string_view::npos) throw unclosed_quote(layout_.source, line_);
      field += rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (!rest.starts_with(quote)) break;
      field += quote;
      rest.remove_prefix(1);
    }
    for (std::size_t at = field.find("\r\n"); at != std::string::npos; at = field.find("\r\n", at))
      field.erase(at, 1);
    while (!rest.empty() && !layout_.is_delimiter(rest.front())) {
      if (!is_blank(rest.front())) {
        throw InputError(fmt::format("{}:{}: text follows the closing quote of field {}", layout_.source,
                                     line_, in_quotes(field)));
      }
      rest.remove_prefix(1);
    }
    return field;
  }

  InputError ragged(std::string_view record) const {
    return InputError(fmt::format("{}:{}: expected {} fields but found {}", layout_.source, line_,
                                  layout_.columns, split(record).size()));
  }

  InputError refusal(std::string_view text, Index field, std::string_view rule) const {
    const std::string name =
        layout_.names.empty() ? "" : fmt::format(" ({})", in_quotes(layout_.names[field]));
    return InputError(fmt::format("{}:{}: field {}{} is {}: {}", layout_.source, line_, field + 1, name,
                                  text.empty() ? "empty" : in_quotes(text), rule));
  }

  const Layout& layout_;
  Table& table_;
  std::uint64_t line_ = 0;  // of the record at hand, for messages
};

class CsvReader {
 public:
  CsvReader(ByteStream& stream, const ReadOptions& options)
      : stream_(stream), options_(options), block_bytes_(block_bytes(stream.limit())) {
    layout_.source = stream.name();
    layout_.missing = options.missing;
  }

  Dataset read(Separator separator) {
    read_first_record(separator);
    for (std::string_view block = next_block(); !block.empty(); block = next_block()) read_block(block);
    if (table_.rows == 0)
      throw InputError(fmt::format("{}: holds a header but no rows below it", layout_.source));
    return dataset();
  }

 private:
  // It says what the columns are; where it is no header, it is a row as well.
  void read_first_record(Separator separator) {
    std::optional<Record> record;
    while (!record) {
      const std::string_view block = next_block();
      if (block.empty()) throw InputError(fmt::format("{}: holds no rows, only blank lines", layout_.source));
      Records records(block, layout_.source, stream_.lines_taken());
      record = records.next();
      while (record && is_blank_line(record->text, " ")) record = records.next();
      stream_.skip_lines(block.size() - records.rest().size(), records.lines_taken() - stream_.lines_taken());
    }
    layout_.delimiter = delimiter_of(record->text, separator);
    require_memory_for_header(record->text);
    RowReader rows(layout_, table_);
    const std::vector<std::string> first = rows.split(*record);
    layout_.columns = static_cast<Index>(first.size());
    const bool has_header = std::any_of(first.begin(), first.end(), [](const std::string& text) {
      return !is_missing_marker(text) && !parse_number(text);
    });
    if (has_header) name_columns(first, record->line);
    give_roles();
    layout_.features = std::count(layout_.role.begin(), layout_.role.end(), Role::feature);
    if (!has_header) read_row(rows, *record, stream_.lines_taken());
  }

  // A field may be a single byte in the file; with its name it is some ten times as long here.
  void require_memory_for_header(std::string_view text) const {
    constexpr std::uint64_t bytes_of_field = 256;
    const auto fields = static_cast<std::uint64_t>(std::count_if(
                            text.begin(), text.end(), [this](char c) { return layout_.is_delimiter(c); })) +
                        1;
    require_memory(bytes_of_field * fields, fmt::format("a line of {} fields", fields),
                   stream_.lines_taken());
  }

  void require_memory(std::uint64_t bytes, std::string_view what, std::uint64_t line) const {
    if (!stream_.limit().allows(bytes))
      throw stream_.limit().refusal(fmt::format("{}:{}: {}", layout_.source, line, what), bytes);
  }

  void name_columns(const std::vector<std::string>& header, std::uint64_t line) {
    layout_.names = header;
    std::map<std::string_view, Index> field_of;
    for (Index field = 0; field < layout_.columns; ++field) {
      if (!utf8::is_valid(layout_.names[field])) {
        throw InputError(fmt::format(
            "{}:{}: field {} is not UTF-8: a header must be; iconv -f latin1 -t utf-8 converts the file",
            stream_.name(), line, field + 1));
      }
      const auto [entry, is_new] = field_of.emplace(layout_.names[field], field);
      if (!is_new) {
        throw InputError(
            fmt::format("{}:{}: fields {} and {} are both named {}: the names of a header must differ",
                        stream_.name(), line, entry->second + 1, field + 1, in_quotes(layout_.names[field])));
      }
    }
  }

  void give_roles() {
    layout_.role.assign(static_cast<std::size_t>(layout_.columns), Role::feature);
    if (const auto column = target_column(stream_.name(), options_, layout_.columns, layout_.names))
      give(*column, Role::target);
    const auto give_named = [&](const std::string& name, Role role) {
      give(column_named(stream_.name(), words(role), name, layout_.columns, layout_.names), role);
    };
    if (!options_.weight.empty()) give_named(options_.weight, Role::weight);
    if (!options_.fold.empty() && !(options_.fold_optional && !has_column(options_.fold)))
      give_named(options_.fold, Role::fold);
    for (const std::string& name : options_.ignore) give_named(name, Role::ignored);
    if (options_.only.empty()) return;
    const std::set<std::string_view> wanted(options_.only.begin(), options_.only.end());
    for (std::size_t field = 0; field < layout_.names.size(); ++field) {
      if (layout_.role[field] == Role::feature && !wanted.contains(layout_.names[field]))
        layout_.role[field] = Role::ignored;
    }
  }

  bool has_column(const std::string& name) const {
    return std::find(layout_.names.begin(), layout_.names.end(), name) != layout_.names.end();
  }

  void give(Index column, Role role) {
    Role& current = layout_.role[column];
    if (current != Role::feature && current != role) {
      throw InputError(
          fmt::format("{}: column {} is both the {} and the {}: it can be one of them", stream_.name(),
                      layout_.names.empty() ? std::to_string(column) : in_quotes(layout_.names[column]),
                      words(current), words(role)));
    }
    current = role;
  }

  // The next records, whole unless the file ends within one; empty at its end.
  std::string_view next_block() {
    std::string_view what = "the line";
    for (std::size_t bytes = block_bytes_;; bytes *= 2) {
      const std::string_view text = stream_.peek_lines(bytes, what);
      // What is no text is refused at once, by who reads its lines.
      if (stream_.is_at_end() || text.find('\0') != std::string_view::npos) return text;
      if (const std::size_t end = end_of_last_record(text, quote); end > 0) return text.substr(0, end);
      what = "the quoted field";
    }
  }

  void read_block(std::string_view block) {
    if (!read_in_pieces(block)) read_in_order(block);
  }

  // False where the block must be read in order: something in it is wrong, a line is blank, or memory may not
  // do.
  bool read_in_pieces(std::string_view block) {
    // A row has at least a byte for each of its columns.
    const std::uint64_t at_most = layout_.bytes(table_.rows + 1) + sizeof(double) * block.size();
    const std::vector<std::string_view> pieces = cut_to_pieces(block, quote);
    if (pieces.size() == 1 || !blank_lines_.empty() || !stream_.limit().allows(at_most)) return false;
    parts_.resize(std::max(parts_.size(), pieces.size()));
    const auto read_piece = [&](std::size_t i) {
      Part& part = parts_[i];
      part.table.clear();
      Records records(pieces[i], layout_.source, 0);
      RowReader rows(layout_, part.table);
      while (const auto record = records.next()) {
        if (layout_.is_blank_line(record->text)) return false;
        rows.read(*record);
      }
      part.lines = records.lines_taken();
      return true;
    };
    if (!read_pieces(pieces, read_piece)) return false;
    std::uint64_t lines = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      table_.append(parts_[i].table, layout_.features);
      lines += parts_[i].lines;
    }
    stream_.skip_lines(block.size(), lines);
    return true;
  }

  void read_in_order(std::string_view block) {
    Records records(block, layout_.source, stream_.lines_taken());
    RowReader rows(layout_, table_);
    while (const auto record = records.next()) {
      if (layout_.is_blank_line(record->text)) {
        blank_lines_.push_back(record->line);
        require_memory(blank_lines_.size() * sizeof(std::uint64_t), "the number of blank lines",
                       record->line);
        continue;
      }
      for (const std::uint64_t line : blank_lines_) read_blank_row(rows, line);
      blank_lines_.clear();
      read_row(rows, *record, records.lines_taken());
    }
    stream_.skip_lines(block.size(), records.lines_taken() - stream_.lines_taken());
  }

  void read_blank_row(RowReader& rows, std::uint64_t line) {
    if (layout_.columns > 1) {
      throw InputError(fmt::format("{}:{}: the line is blank where {} fields are expected", layout_.source,
                                   line, layout_.columns));
    }
    read_row(rows, {.text = "", .line = line}, line);
  }

  void read_row(RowReader& rows, const Record& record, std::uint64_t last_line) {
    require_memory(layout_.bytes(table_.rows + 1), "the table up to here", last_line);
    rows.read(record);
  }

  Dataset dataset() {
    Dataset data;
    const auto values = table_.values.release(static_cast<std::size_t>(table_.rows * layout_.features));
    data.x = dense_view(values.get(), table_.rows, layout_.features, layout_.features, values);
    data.y = as_vector(table_.y);
    data.weight = as_vector(table_.weight);
    data.weight_name = options_.weight;
    data.fold = as_vector(table_.fold);
    for (std::size_t field = 0; field < layout_.names.size(); ++field) {
      if (layout_.role[field] == Role::target) data.target_name = layout_.names[field];
      if (layout_.role[field] == Role::feature) data.feature_names.push_back(layout_.names[field]);
    }
    data.source = layout_.source;
    return data;
  }

  // What a thread read of a piece of a block.
  struct Part {
    Table table;
    std::uint64_t lines = 0;
  };

  ByteStream& stream_;
  const ReadOptions& options_;
  std::size_t block_bytes_;
  Layout layout_;
  Table table_;
  std::vector<Part> parts_;
  std::vector<std::uint64_t> blank_lines_;  // behind the last row
};

}  // namespace

Dataset read_csv(ByteStream& stream, Separator separator, const ReadOptions& options) {
  return CsvReader(stream, options).read(separator);
}

}  // namespace yosida
