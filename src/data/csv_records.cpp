#include "data/csv_records.hpp"

#include <fmt/format.h>

#include "data/field.hpp"
#include "data/text_blocks.hpp"

namespace yosida::csv {
namespace {

bool has_open_quote(std::string_view text) { return std::count(text.begin(), text.end(), quote) % 2 == 1; }

/// The first of `candidates` that separates the line outside quotes. Commas may be decimal, one in a field:
/// more of them than that separate fields themselves, and what else there is belongs to a name.
char sniff_delimiter(std::string_view line, std::string_view candidates, char otherwise) {
  std::string bare;
  bool inside = false;
  for (const char c : line) {
    inside ^= c == quote;
    if (!inside) bare += c;
  }
  const auto commas = std::count(bare.begin(), bare.end(), ',');
  for (const char candidate : candidates) {
    const auto found = std::count(bare.begin(), bare.end(), candidate);
    if (found > 0 && found + 1 >= commas) return candidate;
  }
  return otherwise;
}

InputError unclosed_quote(std::string_view source, std::uint64_t line) {
  return InputError(fmt::format("{}:{}: a quoted field is opened but not closed", source, line));
}

}  // namespace

char delimiter_of(std::string_view first_line, Separator separator) {
  switch (separator) {
    case Separator::comma:
      return sniff_delimiter(first_line, ";\t|,", ',');
    case Separator::tab:
      return '\t';
    case Separator::sniffed:
      break;
  }
  return sniff_delimiter(trimmed(first_line), "\t;|,", whitespace);
}

std::string_view next_records(ByteStream& stream, std::size_t bytes) {
  std::string_view what = "the line";
  for (;; bytes *= 2) {
    const std::string_view text = stream.peek_lines(bytes, what);
    // Bytes that are no text are refused at once, by the code that reads their lines.
    if (stream.is_at_end() || text.find('\0') != std::string_view::npos) return text;
    if (const std::size_t end = end_of_last_record(text, quote); end > 0) return text.substr(0, end);
    what = "the quoted field";
  }
}

void require_memory(const ByteStream& stream, std::uint64_t bytes, std::string_view what,
                    std::uint64_t line) {
  if (!stream.limit().allows(bytes))
    throw stream.limit().refusal(fmt::format("{}:{}: {}", stream.name(), line, what), bytes);
}

std::optional<Record> Records::next() {
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

bool Dialect::is_remark(std::string_view line, Index columns) const {
  if (columns < 2 || delimiter == whitespace || line.find(delimiter) != std::string_view::npos) return false;
  const std::string_view text = trimmed(line);
  return !text.empty() && text.find(quote) == std::string_view::npos &&
         text.find('\r') == std::string_view::npos && !field::is_missing(text) && !parse_number(text);
}

InputError Dialect::ragged(const Record& record, Index columns) const {
  const std::vector<std::string> fields = split(record);
  const bool has_quotes = record.has_quotes &&
                          std::any_of(fields.begin(), fields.end(),
                                      [](const auto& each) { return each.find(quote) != std::string::npos; });
  std::string_view reason;
  if (!record.has_quotes && record.text.find('\r') != std::string_view::npos)
    reason = "; its lines have different ends, which sed 's/\\r$//' FILE | tr '\\r' '\\n' > NEW makes alike";
  else if (has_quotes)
    reason = "; a quotation mark stands inside of a field: sed 's/\"//g' FILE > NEW removes all of them";
  return InputError(fmt::format("{}:{}: expected {} fields but found {}{}", source, record.line, columns,
                                fields.size(), reason));
}

std::vector<std::string> Dialect::split(const Record& record) const {
  std::vector<std::string> fields;
  std::string_view rest = delimiter == whitespace ? trimmed(record.text) : record.text;
  for (;;) {
    while (!rest.empty() && is_blank(rest.front()) && rest.front() != delimiter) rest.remove_prefix(1);
    fields.push_back(rest.starts_with(quote) ? take_quoted(rest, record.line) : take_plain(rest));
    if (rest.empty()) return fields;
    rest.remove_prefix(1);
    while (delimiter == whitespace && is_blank(rest.front())) rest.remove_prefix(1);
  }
}

std::string Dialect::take_plain(std::string_view& rest) const {
  const auto end = std::find_if(rest.begin(), rest.end(), [this](char c) { return is_delimiter(c); });
  std::string field(trimmed({rest.begin(), end}));
  rest = {end, rest.end()};
  return field;
}

std::string Dialect::take_quoted(std::string_view& rest, std::uint64_t line) const {
  std::string field;
  rest.remove_prefix(1);
  for (;;) {
    const std::size_t end = rest.find(quote);
    if (end == std::string_view::npos) throw unclosed_quote(source, line);
    field += rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (!rest.starts_with(quote)) break;
    field += quote;
    rest.remove_prefix(1);
  }
  for (std::size_t at = field.find("\r\n"); at != std::string::npos; at = field.find("\r\n", at))
    field.erase(at, 1);
  while (!rest.empty() && !is_delimiter(rest.front())) {
    if (!is_blank(rest.front())) {
      throw InputError(
          fmt::format("{}:{}: text follows the closing quote of field {}", source, line, in_quotes(field)));
    }
    rest.remove_prefix(1);
  }
  return field;
}

}  // namespace yosida::csv
