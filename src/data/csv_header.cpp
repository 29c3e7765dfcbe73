#include "data/csv_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "data/csv_roles.hpp"
#include "data/field.hpp"
#include "data/formats.hpp"
#include "yosida/error.hpp"
#include "yosida/utf8.hpp"

namespace yosida::csv {
namespace {

class HeaderReader {
 public:
  HeaderReader(ByteStream& stream, std::size_t block_bytes, const ReadOptions& options, Separator separator,
               Layout& layout)
      : stream_(stream),
        block_bytes_(block_bytes),
        options_(options),
        separator_(separator),
        layout_(layout) {}

  // The first record says what the columns are. Where it is no header, it is a row as well.
  FirstLines read() {
    std::optional<Record> record;
    std::optional<Records> ahead;  // the records behind the first
    while (!record) {
      const std::string_view block = next_records(stream_, block_bytes_);
      if (block.empty()) throw InputError(fmt::format("{}: holds no rows, only blank lines", layout_.source));
      Records records(block, layout_.source, stream_.lines_taken());
      record = records.next();
      while (record && record->text.find_first_not_of(' ') == std::string_view::npos) record = records.next();
      while (record && is_above_table(*record, records)) record = records.next();
      if (record) ahead.emplace(records);
      stream_.skip_lines(block.size() - records.rest().size(), records.lines_taken() - stream_.lines_taken());
    }
    if (!says_delimiter_) layout_.delimiter = delimiter_for(*record);
    require_memory_for_header(record->text);
    std::vector<std::string> first = layout_.split(*record);
    layout_.columns = static_cast<Index>(first.size());
    if (is_header(first, *ahead)) {
      found_.header = first;
      found_.header_line = record->text;
      if (lacks_first_name(*ahead)) first.insert(first.begin(), "");
      layout_.columns = static_cast<Index>(first.size());
      name_columns(first, record->line);
    } else {
      found_.row = record;
    }
    give_roles(layout_, options_);
    if (has_names_of_rows()) pass_over_names_of_rows();
    layout_.features = std::count(layout_.role.begin(), layout_.role.end(), Role::feature);
    if (options_.like.is_plain()) note_codes(*ahead);
    return std::move(found_);
  }

 private:
  // A line that some programs put above a table: a title, alone in its line, or how fields stand apart.
  bool is_above_table(const Record& record, Records below) {
    constexpr std::string_view kSays = "sep=";
    if (record.text.size() == kSays.size() + 1 && record.text.starts_with(kSays)) {
      layout_.delimiter = record.text.back();
      says_delimiter_ = true;
      return true;
    }
    if (says_delimiter_) return false;
    if (is_above_names(record, below)) {
      pass_over(record);
      return true;
    }
    if (separator_ == Separator::sniffed) return false;
    std::optional<Record> next = next_if_any(below);
    bool has_gap = false;  // a blank line, or one of separators alone
    for (; next && next->text.find_first_not_of(" \t,;") == std::string_view::npos; next = next_if_any(below))
      has_gap = true;
    if (!next) return false;
    if (record.text.find_first_not_of(" \t,;") == std::string_view::npos) return true;
    const auto fields = [&](const Record& each) {
      Dialect dialect{.source = layout_.source, .delimiter = delimiter_of(next->text, separator_)};
      Index filled = 0;
      dialect.for_each_field(each, [&](Index, std::string_view text) { filled += !text.empty(); });
      return filled;
    };
    if (record.has_quotes || next->has_quotes || fields(record) != 1 || fields(*next) < (has_gap ? 2 : 3))
      return false;
    // A header may name the target alone.
    const char delimiter = delimiter_of(next->text, separator_);
    if (record.text.find(delimiter) != std::string_view::npos && has_asked_name(record, delimiter) &&
        !has_asked_name(*next, delimiter))
      return false;
    pass_over(record);
    return true;
  }

  void pass_over(const Record& record) {
    if (options_.like.is_plain())
      found_.notes.push_back(fmt::format("line {} is passed over: {}", record.line, in_quotes(record.text)));
  }

  // A comment, or the upper line of a header of two: a line below it has a name that the options ask for.
  bool is_above_names(const Record& record, Records below) const {
    if (!ask_for_names(options_)) return false;
    if (has_asked_name(record, delimiter_of(record.text, separator_))) return false;
    constexpr int kMostAbove = 10;
    for (int i = 0; i < kMostAbove; ++i) {
      const std::optional<Record> next = next_if_any(below);
      if (!next) return false;
      if (has_asked_name(*next, delimiter_of(next->text, separator_))) return true;
    }
    return false;
  }

  // Whether a line holds a name that the options ask for, and no number.
  bool has_asked_name(const Record& record, char delimiter) const {
    const Dialect dialect{.source = layout_.source, .delimiter = delimiter};
    bool has_name = false, has_number = false;
    dialect.for_each_field(record, [&](Index, std::string_view text) {
      const bool is_number = parse_number(text).has_value();
      has_number |= is_number;
      has_name =
          has_name || (!is_number && !field::is_missing(text) && name_column(options_, std::string(text)));
    });
    return has_name && !has_number;
  }

  // What separates the fields. It is the space where nothing else does it, and the options ask for one of the
  // words.
  char delimiter_for(const Record& record) const {
    const char sniffed = delimiter_of(record.text, separator_);
    const bool stands_alone =
        separator_ == Separator::comma && record.text.find(sniffed) == std::string_view::npos;
    return stands_alone && !has_asked_name(record, sniffed) && has_asked_name(record, whitespace) ? whitespace
                                                                                                  : sniffed;
  }

  static std::optional<Record> next_if_any(Records& records) try {
    return records.next();
  } catch (const InputError&) {  // its message comes when it is read
    return std::nullopt;
  }

  // Text in the first line makes it a header, with one exception. The line is a row where all its text stands
  // above text, none of it is a name that the options ask for, and it either holds numbers, too, or half of
  // its fields come again below, as levels do.
  bool is_header(const std::vector<std::string>& first, Records below) const {
    const auto is_text = [](std::string_view text) {
      return !field::is_missing(text) && !parse_number(text);
    };
    if (std::none_of(first.begin(), first.end(), is_text)) return false;
    const bool has_number = std::any_of(
        first.begin(), first.end(), [](const std::string& text) { return parse_number(text).has_value(); });
    std::optional<Record> second = next_if_any(below);
    if (!second) return true;
    const auto is_asked_for = [&](const std::string& text) {
      return is_text(text) && name_column(options_, text);
    };
    if (std::any_of(first.begin(), first.end(), is_asked_for)) return true;
    bool is_above_number = false;
    const Index fields = layout_.for_each_field(*second, [&](Index field, std::string_view text) {
      const auto at = static_cast<std::size_t>(field);
      is_above_number |= at < first.size() && is_text(first[at]) && !is_text(text);
    });
    if (is_above_number || fields != layout_.columns) return true;
    if (has_number) return false;
    constexpr int kMostLooked = 1000;
    std::vector<bool> comes_again(first.size());
    for (int looked = 0; second && looked < kMostLooked; ++looked, second = next_if_any(below))
      layout_.for_each_field(*second, [&](Index field, std::string_view text) {
        const auto at = static_cast<std::size_t>(field);
        if (at < first.size() && text == first[at]) comes_again[at] = true;
      });
    return 2 * std::count(comes_again.begin(), comes_again.end(), true) < layout_.columns;
  }

  // R leaves the names of its rows without one: the rows have a field more than the header.
  bool lacks_first_name(Records below) const {
    constexpr int kLooked = 2;
    for (int i = 0; i < kLooked; ++i) {
      const std::optional<Record> next = next_if_any(below);
      if (!next) return false;
      const std::vector<std::string> fields = layout_.split(*next);
      if (static_cast<Index>(fields.size()) != layout_.columns + 1 || fields.back().empty()) return false;
    }
    return true;
  }

  // Pandas and R write the index or the names of rows as a first column, which alone has no name.
  bool has_names_of_rows() const {
    if (layout_.names.size() < 2 || !options_.like.is_plain()) return false;
    const std::string& first = layout_.names.front();
    return (first.empty() || first == "Unnamed: 0") &&
           std::find(found_.header.begin() + 1, found_.header.end(), "") == found_.header.end() &&
           layout_.role.front() == Role::feature && !layout_.kind.front().is_forced;
  }

  void pass_over_names_of_rows() {
    layout_.role.front() = Role::ignored;
    found_.notes.push_back(
        "the first column has no name of its own, as the index of pandas and the names of rows of R, and is "
        "passed "
        "over (--numeric 0 or --categorical 0 takes it all the same)");
  }

  // Zeros in front of a number say that it is a code: 02139.
  void note_codes(Records below) {
    constexpr int kLooked = 20;
    constexpr std::string_view kDigits = "0123456789";
    std::vector<std::string> code(static_cast<std::size_t>(layout_.columns));
    std::vector<bool> has_others(code.size());
    std::size_t open = code.size();  // columns of whole numbers so far
    for (int looked = 0; looked < kLooked && open > 0; ++looked) {
      const std::optional<Record> next = next_if_any(below);
      if (!next) break;
      layout_.for_each_field(*next, [&](Index field, std::string_view text) {
        const auto at = static_cast<std::size_t>(field);
        if (at >= code.size() || has_others[at]) return;
        if (text.find_first_not_of(kDigits) != std::string_view::npos) {
          has_others[at] = true;
          --open;
        } else if (text.size() > 1 && text.front() == '0') {
          code[at] = text;
        }
      });
    }
    for (std::size_t at = 0; at < code.size(); ++at)
      if (!code[at].empty() && !has_others[at] && layout_.role[at] == Role::feature &&
          !layout_.kind[at].is_forced)
        found_.notes.push_back(fmt::format(
            "column {0} is taken for numbers, but some begin with 0 ({1}); --categorical {2} takes "
            "them for codes",
            layout_.in_words(static_cast<Index>(at)), code[at],
            word_of_list(layout_.name_of(static_cast<Index>(at)), at)));
  }

  // A field may be a single byte in the file. Here it has a name, a role, a kind, and what was seen in it.
  void require_memory_for_header(std::string_view text) const {
    constexpr std::uint64_t bytes_of_field = 1536;  // columns of text take most
    const auto fields = static_cast<std::uint64_t>(std::count_if(
                            text.begin(), text.end(), [this](char c) { return layout_.is_delimiter(c); })) +
                        1;
    require_memory(stream_, bytes_of_field * fields, fmt::format("a line of {} fields", fields),
                   stream_.lines_taken());
  }

  void name_columns(const std::vector<std::string>& header, std::uint64_t line) {
    layout_.names = header;
    std::map<std::string_view, NamedField> named;
    std::set<std::string_view> taken(header.begin(), header.end());
    for (Index field = 0; field < layout_.columns; ++field) {
      if (!utf8::is_valid(layout_.names[field])) {
        throw NotUtf8(fmt::format(
            "{}:{}: field {} is not UTF-8: a header must be; iconv -f latin1 -t utf-8 converts the file",
            layout_.source, line, field + 1));
      }
      const auto [entry, is_new] = named.emplace(header[field], NamedField{.first = field});
      if (!is_new) taken.insert(rename(field, entry->second, taken, line));
    }
    if (renamed_ > kMostNotes)
      found_.notes.push_back(fmt::format("and {} more fields have new names", renamed_ - kMostNotes));
  }

  // Where a name stands first, and the number that the next field of this name may get.
  struct NamedField {
    Index first;
    int number = 2;
  };
  static constexpr Index kMostNotes = 20;

  // The second column of a name gets a number behind it, unless the options ask for that name: who could tell
  // which is meant?
  std::string_view rename(Index field, NamedField& named, const std::set<std::string_view>& taken,
                          std::uint64_t line) {
    std::string& own = layout_.names[static_cast<std::size_t>(field)];
    const std::string name = own;
    const bool is_wanted = !name.empty() && name_column(options_, name) && options_.like.columns.empty();
    if (is_wanted)
      throw InputError(
          fmt::format("{}:{}: fields {} and {} are both named {}: the names of a header must differ",
                      layout_.source, line, named.first + 1, field + 1, in_quotes(name)));
    while (taken.contains(own)) own = fmt::format("{}.{}", name.empty() ? "column" : name, named.number++);
    if (!name.empty() && options_.like.is_plain() && ++renamed_ <= kMostNotes)
      found_.notes.push_back(fmt::format("fields {} and {} are both named {}: the second is called {}",
                                         named.first + 1, field + 1, in_quotes(name), in_quotes(own)));
    return own;
  }

  ByteStream& stream_;
  std::size_t block_bytes_;
  const ReadOptions& options_;
  Separator separator_;
  Layout& layout_;
  FirstLines found_;
  bool says_delimiter_ = false;  // a line of the file
  Index renamed_ = 0;            // fields, of which the first few are told
};

}  // namespace

FirstLines read_first_lines(ByteStream& stream, std::size_t block_bytes, const ReadOptions& options,
                            Separator separator, Layout& layout) {
  return HeaderReader(stream, block_bytes, options, separator, layout).read();
}

}  // namespace yosida::csv
