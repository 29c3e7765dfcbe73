#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/csv_rows.hpp"
#include "data/field.hpp"
#include "data/formats.hpp"
#include "data/text_blocks.hpp"
#include "yosida/error.hpp"
#include "yosida/utf8.hpp"

namespace yosida {
namespace {

using namespace csv;

Vector as_vector(const std::vector<double>& numbers) {
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

/// What the text of all rows says of the columns.
struct Looked {
  std::vector<FieldKind> kind;
  char decimal = '\0';
  std::vector<std::size_t> empty = {};  // fields that no row has
  bool has_text = false;                // a column is no plain number
};

/// A line without values.
struct BlankLine {
  std::uint64_t line = 0;
  bool is_row = false;  // it has separators
};

class CsvReader {
 public:
  /// Of `stream` and of the files behind it.
  CsvReader(ByteStream& stream, std::span<const std::filesystem::path> further, const ReadOptions& options,
            Separator separator, Encoding encoding)
      : stream_(stream),
        further_(further),
        options_(options),
        separator_(separator),
        encoding_(encoding),
        block_bytes_(block_bytes(stream.limit())) {
    layout_.source = stream.name();
    lines_.add(stream.name(), 0);
    layout_.missing = options.missing;
    layout_.refuses_unseen = options.refuse_unseen;
    layout_.gives_hints = options.like.is_plain();
    layout_.decimal = options.like.is_plain() ? options.decimal : options.like.decimal;
  }

  /// All fields, to say what the columns are. Throws TableError where one cannot be read.
  Looked look() {
    const std::optional<Record> row = read_first_record();
    begin_look();
    if (row) look_at(*row, looks_, 0);
    for_each_block([&](std::string_view block) { look_at_block(block); });
    return decided();
  }

  /// Of a file of numbers the rows within these bytes, which begin and end with a line. Throws InputError
  /// where a line is blank.
  Dataset read_range(const ByteRange& range) {
    const std::optional<Record> row = read_first_record();
    std::string first_row(row ? row->text : "");
    const bool is_first = range.begin == 0;
    stream_.go_to(range);
    lay_out();
    RowReader rows(layout_, table_);
    if (row && is_first) rows.read({.text = first_row, .line = row->line, .has_quotes = row->has_quotes});
    for_each_block([&](std::string_view block) { read_block(block); });
    if (!blank_lines_.empty()) throw InputError(fmt::format("{}: a line is blank", layout_.source));
    if (options_.missing != Missing::refuse && has_empty_column())
      throw InputError(fmt::format("{}: a column may have no values", layout_.source));
    return dataset();
  }

  /// The rows. Where nothing is known of the columns and the text comes once, what comes first is looked at.
  Dataset read(const Looked* known, bool comes_once) {
    const std::optional<Record> row = read_first_record();
    std::string first_row(row ? row->text : "");  // what is looked at moves the text
    if (known != nullptr) take(*known);
    if (comes_once && known == nullptr && options_.like.is_plain()) {
      begin_look();
      if (row) look_at(*row, looks_, 0);
      look_at_all(next_block(), stream_.lines_taken());
      take(decided());
    }
    lay_out();
    if (row) {
      RowReader rows(layout_, table_);
      read_row(rows, {.text = first_row, .line = row->line, .has_quotes = row->has_quotes},
               stream_.lines_taken());
    }
    for_each_block([&](std::string_view block) { read_block(block); });
    if (table_.rows == 0)
      throw InputError(fmt::format("{}: holds a header but no rows below it", layout_.source));
    if (known == nullptr && !comes_once && options_.like.is_plain() && has_empty_column())
      throw UnexpectedText(fmt::format("{}: a column has no values", layout_.source));
    return dataset();
  }

 private:
  // To the end of the last file.
  template <typename Body>
  void for_each_block(const Body& body) {
    for (;;) {
      for (std::string_view block = next_block(); !block.empty(); block = next_block()) body(block);
      if (further_.empty()) return;
      open_next();
    }
  }

  // The next file goes on where the last one has ended: with the same header, or with none where that had
  // none.
  void open_next() {
    blank_lines_.clear();
    const std::uint64_t bytes_before = stream_.limit().file_bytes;
    lines_.add(further_.front().string(), lines_.before() + stream_.lines_taken());
    stream_ = open_text(further_.front(), options_.max_memory, encoding_);
    stream_.shared_limit()->file_bytes += bytes_before;
    further_ = further_.subspan(1);
    layout_.source = stream_.name();
    if (layout_.names.empty()) return;
    const std::string_view block = next_block();
    Records records(block, layout_.source, 0);
    const std::optional<Record> header = records.next();
    if (!header || layout_.split(*header) != header_)
      throw InputError(
          fmt::format("{}:1: must be the header of the first file, {}: the files of one table have the "
                      "same columns in the same order",
                      layout_.source, in_quotes(fmt::format("{}", fmt::join(header_, ",")))));
    stream_.skip_lines(block.size() - records.rest().size(), records.lines_taken());
  }

  bool has_empty_column() {
    const double* const x = table_.values.data();
    for (Index j = 0; j < layout_.features; ++j) {
      Index row = 0;
      while (row < table_.rows && std::isnan(x[row * layout_.features + j])) ++row;
      if (row == table_.rows) return true;
    }
    return false;
  }

  // The first record says what the columns are. Where it is no header, it is a row as well.
  std::optional<Record> read_first_record() {
    std::optional<Record> record;
    std::optional<Records> ahead;  // the records behind the first
    while (!record) {
      const std::string_view block = next_block();
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
    const std::vector<std::string> first = layout_.split(*record);
    layout_.columns = static_cast<Index>(first.size());
    const bool has_header = is_header(first, *ahead);
    if (has_header) {
      header_ = first;
      name_columns(first, record->line);
    }
    give_roles();
    layout_.features = std::count(layout_.role.begin(), layout_.role.end(), Role::feature);
    return has_header ? std::nullopt : record;
  }

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
    pass_over(record);
    return true;
  }

  void pass_over(const Record& record) {
    if (options_.like.is_plain())
      notes_.push_back(fmt::format("line {} is passed over: {}", record.line, in_quotes(record.text)));
  }

  // A comment, or the upper line of a header of two: a line below it has a name that the options ask for.
  bool is_above_names(const Record& record, Records below) const {
    if (!asks_for_names()) return false;
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
      has_name = has_name || (!is_number && !field::is_missing(text) && names_column(std::string(text)));
    });
    return has_name && !has_number;
  }

  // What stands between fields: spaces where nothing else does, and one of the words is asked for.
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

  // Text in the first line makes it a header, unless all of it stands above text, none of it is a name that
  // the options ask for, and there are numbers, too, or half of its fields come again below, as levels do.
  bool is_header(const std::vector<std::string>& first, Records below) const {
    const auto is_text = [](std::string_view text) {
      return !field::is_missing(text) && !parse_number(text);
    };
    if (std::none_of(first.begin(), first.end(), is_text)) return false;
    const bool has_number = std::any_of(
        first.begin(), first.end(), [](const std::string& text) { return parse_number(text).has_value(); });
    std::optional<Record> second = next_if_any(below);
    if (!second) return true;
    const auto is_asked_for = [&](const std::string& text) { return is_text(text) && names_column(text); };
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

  // Whether options call a column by a name: a number is an index, and no name is looked for in the lines.
  bool asks_for_names() const {
    const auto is_name = [](const std::string& text) { return !text.empty() && !parse_number(text); };
    const auto have_name = [&](const std::vector<std::string>& texts) {
      return std::any_of(texts.begin(), texts.end(), is_name);
    };
    return is_name(options_.target) || is_name(options_.weight) || is_name(options_.fold) ||
           is_name(options_.id) || have_name(options_.ignore) || have_name(options_.only) ||
           have_name(options_.categorical) || have_name(options_.numeric) || !options_.like.columns.empty();
  }

  // Whether an option calls a column so.
  bool names_column(const std::string& name) const {
    const auto has = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    const auto& columns = options_.like.columns;
    return name == options_.target || name == options_.weight || name == options_.fold ||
           name == options_.id || has(options_.ignore) || has(options_.only) || has(options_.categorical) ||
           has(options_.numeric) ||
           std::any_of(columns.begin(), columns.end(),
                       [&](const TableColumn& column) { return column.name == name; });
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
        throw NotUtf8(fmt::format(
            "{}:{}: field {} is not UTF-8: a header must be; iconv -f latin1 -t utf-8 converts the file",
            stream_.name(), line, field + 1));
      }
      if (const auto [entry, is_new] = field_of.emplace(header[field], field); !is_new)
        rename(field, entry->second, header, line);
    }
  }

  // The second column of a name gets a number behind it, unless the options ask for that name: who could tell
  // which is meant?
  void rename(Index field, Index first, const std::vector<std::string>& header, std::uint64_t line) {
    const std::string& name = header[static_cast<std::size_t>(field)];
    const bool is_wanted = !name.empty() && names_column(name) && options_.like.columns.empty();
    if (is_wanted)
      throw InputError(
          fmt::format("{}:{}: fields {} and {} are both named {}: the names of a header must differ",
                      stream_.name(), line, first + 1, field + 1, in_quotes(name)));
    std::string& own = layout_.names[static_cast<std::size_t>(field)];
    for (int number = 2; std::find(header.begin(), header.end(), own) != header.end() ||
                         std::find(layout_.names.begin(), layout_.names.begin() + field, own) !=
                             layout_.names.begin() + field;
         ++number)
      own = fmt::format("{}.{}", name.empty() ? "column" : name, number);
    if (!name.empty() && options_.like.is_plain())
      notes_.push_back(fmt::format("fields {} and {} are both named {}: the second is called {}", first + 1,
                                   field + 1, in_quotes(name), in_quotes(own)));
  }

  void give_roles() {
    const auto columns = static_cast<std::size_t>(layout_.columns);
    layout_.role.assign(columns, Role::feature);
    layout_.kind.assign(columns, {});
    if (const auto column = target_column(stream_.name(), options_, layout_.columns, layout_.names))
      give(*column, Role::target);
    const auto give_named = [&](const std::string& name, Role role) {
      give(place_of(words(role), name), role);
    };
    if (!options_.weight.empty()) give_named(options_.weight, Role::weight);
    if (!options_.fold.empty() && !(options_.fold_optional && !has_column(options_.fold)))
      give_named(options_.fold, Role::fold);
    if (!options_.id.empty()) keep_ids();
    for (const std::string& name : options_.ignore) give_named(name, Role::ignored);
    for (const std::string& name : options_.categorical) force(name, "category", ColumnKind::category);
    for (const std::string& name : options_.numeric) force(name, "column of numbers", ColumnKind::number);
    if (!options_.like.columns.empty()) take_those_of(options_.like);
    if (!options_.like.classes.empty())
      for (std::size_t field = 0; field < columns; ++field)
        if (layout_.role[field] == Role::target) layout_.kind[field].kind = ColumnKind::category;
    if (options_.only.empty()) return;
    const std::set<std::string_view> wanted(options_.only.begin(), options_.only.end());
    for (std::size_t field = 0; field < layout_.names.size(); ++field) {
      if (layout_.role[field] == Role::feature && !wanted.contains(layout_.names[field]))
        layout_.role[field] = Role::ignored;
    }
  }

  Index place_of(std::string_view what, const std::string& name) const {
    return column_named(stream_.name(), what, name, layout_.columns, layout_.names);
  }

  bool has_column(const std::string& name) const {
    return std::find(layout_.names.begin(), layout_.names.end(), name) != layout_.names.end();
  }

  std::string in_words(Index column) const {
    return layout_.names.empty() ? std::to_string(column)
                                 : in_quotes(layout_.names[static_cast<std::size_t>(column)]);
  }

  void give(Index column, Role role) {
    Role& current = layout_.role[column];
    if (current != Role::feature && current != role)
      throw InputError(fmt::format("{}: column {} is both the {} and the {}: it can be one of them",
                                   stream_.name(), in_words(column), words(current), words(role)));
    current = role;
  }

  // A model may know the column as a feature, too; an id is kept beside it and is none.
  void keep_ids() {
    const Index column = place_of(words(Role::id), options_.id);
    const auto& known = options_.like.columns;
    if (std::any_of(known.begin(), known.end(),
                    [&](const TableColumn& each) { return each.name == layout_.name_of(column); }))
      throw InputError(
          fmt::format("{}: column {} is both a feature of the model and the {}: it can be one of "
                      "them",
                      stream_.name(), in_words(column), words(Role::id)));
    give(column, Role::id);
  }

  void force(const std::string& name, std::string_view what, ColumnKind kind) {
    const Index column = place_of(what, name);
    const auto at = static_cast<std::size_t>(column);
    if (layout_.kind[at].is_forced || (layout_.role[at] != Role::feature && layout_.role[at] != Role::target))
      throw InputError(fmt::format("{}: column {} is both a {} and a {}: it can be one of them",
                                   stream_.name(), in_words(column), what,
                                   layout_.kind[at].is_forced ? "category" : words(layout_.role[at])));
    layout_.kind[at] = {.kind = kind, .is_forced = true};
  }

  // The columns of another table, by name where there are names, else by place; all others are passed over.
  void take_those_of(const TableForm& like) {
    std::map<std::string, std::size_t> field_of;
    for (Index field = 0; field < layout_.columns; ++field)
      if (Role& role = layout_.role[static_cast<std::size_t>(field)]; role == Role::feature) {
        const std::size_t place = field_of.size();
        field_of[layout_.names.empty() && place < like.columns.size() ? like.columns[place].name
                                                                      : layout_.name_of(field)] =
            static_cast<std::size_t>(field);
        role = Role::ignored;
      }
    if (layout_.names.empty() && field_of.size() != like.columns.size())
      throw InputError(fmt::format("{}: has {} columns without names, {} are needed: {}", stream_.name(),
                                   field_of.size(), like.columns.size(), comma_separated(names_of(like))));
    std::vector<std::string> absent;
    for (const TableColumn& column : like.columns) {
      const auto found = field_of.find(column.name);
      if (found == field_of.end()) {
        absent.push_back(in_quotes(column.name));
        continue;
      }
      like_fields_.push_back(found->second);
      layout_.role[found->second] = Role::feature;
      FieldKind& kind = layout_.kind[found->second];
      kind = {.kind = column.kind,
              .order = column.order,
              .is_forced = kind.is_forced && column.kind == ColumnKind::number,
              .unit = field::unit_of(column)};
    }
    if (!absent.empty())
      throw InputError(fmt::format("{}: has no column {}, which the model was trained with", stream_.name(),
                                   comma_separated(absent)));
  }

  static std::vector<std::string> names_of(const TableForm& form) {
    std::vector<std::string> names;
    for (const TableColumn& column : form.columns) names.push_back(column.name);
    return names;
  }

  void begin_look() {
    for (Index field = 0; field < layout_.columns; ++field) {
      const auto at = static_cast<std::size_t>(field);
      if (layout_.role[at] != Role::feature && layout_.role[at] != Role::target &&
          layout_.role[at] != Role::fold)
        continue;
      columns_.push_back({.name = layout_.name_of(field),
                          .field = at,
                          .has_name = !layout_.names.empty(),
                          .is_target = layout_.role[at] == Role::target,
                          .is_group = layout_.role[at] == Role::fold,
                          .is_forced = layout_.kind[at].is_forced,
                          .kind = layout_.kind[at],
                          .look = {}});
    }
    looks_.assign(static_cast<std::size_t>(layout_.columns), {});
  }

  using Looks = std::vector<ColumnLook>;  // by field

  void look_at(const Record& record, Looks& looks, std::uint64_t lines_before) const {
    layout_.for_each_field(record, [&](Index field, std::string_view text) {
      if (field < layout_.columns && layout_.role[static_cast<std::size_t>(field)] != Role::ignored)
        looks[static_cast<std::size_t>(field)].add(text, record.line + lines_before);
    });
  }

  std::uint64_t look_at_all(std::string_view block, std::uint64_t lines_before) {
    Records records(block, layout_.source, lines_before);
    while (const auto record = records.next())
      if (!layout_.is_blank_line(record->text)) look_at(*record, looks_, lines_.before());
    return records.lines_taken();
  }

  void look_at_block(std::string_view block) {
    const std::vector<std::string_view> pieces = cut_to_pieces(block, quote);
    const std::uint64_t before = stream_.lines_taken();
    std::vector<Looks> looks(pieces.size(), Looks(looks_.size()));
    std::vector<std::uint64_t> lines(pieces.size());
    const auto look_at_piece = [&](std::size_t i) {
      Records records(pieces[i], layout_.source, 0);
      while (const auto record = records.next())
        if (!layout_.is_blank_line(record->text)) look_at(*record, looks[i], 0);
      lines[i] = records.lines_taken();
      return true;
    };
    std::uint64_t taken = before;
    if (pieces.size() > 1 && read_pieces(pieces, look_at_piece)) {
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        for (std::size_t field = 0; field < looks_.size(); ++field)
          looks_[field].append(looks[i][field], lines_.before() + taken);
        taken += lines[i];
      }
    } else {
      taken = look_at_all(block, before);
    }
    stream_.skip_lines(block.size(), taken - before);
  }

  Looked decided() {
    for (LookedAt& column : columns_) column.look = std::move(looks_[column.field]);
    Looked looked{.kind = layout_.kind,
                  .decimal = options_.decimal != '\0' ? options_.decimal : decimal_of(columns_)};
    decide_kinds(columns_, lines_, looked.decimal, layout_.delimiter, options_.missing);
    for (const LookedAt& column : columns_) {
      looked.kind[column.field] = column.kind;
      if (!column.look.has_values() && !column.is_target && !column.is_group) {
        looked.empty.push_back(column.field);
        looked.has_text = true;  // other files are read like this one, without that column
        continue;
      }
      looked.has_text |=
          !column.is_target && !column.is_group &&
          (column.kind.kind != ColumnKind::number || column.kind.is_forced || !column.look.is_plain());
    }
    return looked;
  }

  void take(const Looked& known) {
    layout_.kind = known.kind;
    layout_.decimal = known.decimal;
    has_text_ = known.has_text;
    for (const std::size_t field : known.empty) {
      layout_.role[field] = Role::ignored;
      --layout_.features;
      notes_.push_back(fmt::format("column {} is passed over: no row has a value there",
                                   in_words(static_cast<Index>(field))));
    }
  }

  // Where the numbers of a row go, and the levels of its texts.
  void lay_out() {
    const auto columns = static_cast<std::size_t>(layout_.columns);
    layout_.slot.assign(columns, -1);
    layout_.place.assign(columns, -1);
    Index place = 0;
    for (std::size_t field = 0; field < columns; ++field) {
      const Role role = layout_.role[field];
      const bool is_text = layout_.kind[field].kind == ColumnKind::category;
      if (role == Role::feature) layout_.place[field] = place++;
      if ((role == Role::feature || role == Role::target || role == Role::fold) && is_text) {
        layout_.slot[field] = static_cast<Index>(layout_.levels.size());
        layout_.levels.push_back(given_levels(field));
        has_text_ |= role == Role::feature;
      }
      layout_.is_all_numbers &= layout_.kind[field].kind == ColumnKind::number && role != Role::id &&
                                layout_.kind[field].unit.empty();
    }
    layout_.is_all_numbers &= layout_.decimal != ',';
    table_.levels = layout_.levels;
  }

  Levels given_levels(std::size_t field) const {
    if (layout_.role[field] == Role::target)
      return options_.like.classes.empty() ? Levels() : Levels(options_.like.classes);
    const auto known = std::find(like_fields_.begin(), like_fields_.end(), field);
    if (known == like_fields_.end()) return {};
    return Levels(options_.like.columns[static_cast<std::size_t>(known - like_fields_.begin())].levels);
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
    std::uint64_t bytes = 0;
    for (const Levels& levels : table_.levels) bytes += levels.bytes();
    if (bytes > 0) require_memory(bytes, "the levels of its categories", stream_.lines_taken());
  }

  // False where the block must be read in order: something in it is wrong, a line is blank, or memory may not
  // do.
  bool read_in_pieces(std::string_view block) {
    // A row has at least a byte for each of its columns.
    const std::uint64_t at_most = layout_.bytes(table_.rows + 1) + sizeof(double) * block.size();
    const std::vector<std::string_view> pieces = cut_to_pieces(block, quote);
    if (pieces.size() == 1 || !blank_lines_.empty() || !stream_.limit().allows(at_most)) return false;
    while (parts_.size() < pieces.size()) {
      parts_.emplace_back();
      parts_.back().table.levels = layout_.levels;
    }
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
      table_.append(parts_[i].table, layout_);
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
        blank_lines_.push_back(
            {.line = record->line, .is_row = record->text.find(layout_.delimiter) != std::string_view::npos});
        require_memory(blank_lines_.size() * sizeof(BlankLine), "the number of blank lines", record->line);
        continue;
      }
      for (const BlankLine& line : blank_lines_) read_blank_row(rows, line);
      blank_lines_.clear();
      read_row(rows, *record, records.lines_taken());
    }
    stream_.skip_lines(block.size(), records.lines_taken() - stream_.lines_taken());
  }

  void read_blank_row(RowReader& rows, const BlankLine& blank) {
    if (layout_.columns > 1 && !blank.is_row) {
      throw InputError(fmt::format("{}:{}: the line is blank where {} fields are expected", layout_.source,
                                   blank.line, layout_.columns));
    }
    const std::string fields(static_cast<std::size_t>(layout_.columns - 1), layout_.delimiter);
    read_row(rows, {.text = fields, .line = blank.line}, blank.line);
  }

  void read_row(RowReader& rows, const Record& record, std::uint64_t last_line) {
    require_memory(layout_.bytes(table_.rows + 1), "the table up to here", last_line);
    rows.read(record);
  }

  Dataset dataset() {
    Dataset data;
    data.notes = notes_;
    data.source = layout_.source;
    data.weight_name = options_.weight;
    sort_levels();
    if (has_text_ || !options_.like.columns.empty()) {
      add_features_of_text(data);
    } else {
      data.x = rows_as_read();
      for (std::size_t field = 0; field < layout_.names.size(); ++field)
        if (layout_.role[field] == Role::feature) data.feature_names.push_back(layout_.names[field]);
    }
    data.table.decimal = layout_.decimal == ',' ? ',' : '.';
    if (layout_.decimal == ',' && options_.decimal == '\0' && options_.like.is_plain())
      data.notes.emplace_back("numbers have decimal commas (--decimal ,)");
    data.y = as_vector(table_.y);
    data.weight = as_vector(table_.weight);
    data.fold = as_vector(table_.fold);
    data.id = std::move(table_.id);
    for (std::size_t field = 0; field < layout_.role.size(); ++field) {
      const std::string name = layout_.names.empty() ? "" : layout_.names[field];
      if (layout_.role[field] == Role::id) data.id_name = name.empty() ? "id" : name;
      if (layout_.role[field] != Role::target) continue;
      data.target_name = name;
      if (const Levels* levels = levels_of(field)) data.table.classes = levels->texts();
    }
    return data;
  }

  Design rows_as_read() {
    const auto values = table_.values.release(static_cast<std::size_t>(table_.rows * layout_.features));
    return dense_view(values.get(), table_.rows, layout_.features, layout_.features, values);
  }

  const Levels* levels_of(std::size_t field) const {
    return layout_.slot[field] < 0 ? nullptr : &table_.levels[static_cast<std::size_t>(layout_.slot[field])];
  }

  // In rising order whichever came first, so that neither rows nor threads decide it.
  void sort_levels() {
    for (std::size_t field = 0; field < layout_.slot.size(); ++field) {
      if (layout_.slot[field] < 0) continue;
      Levels& levels = table_.levels[static_cast<std::size_t>(layout_.slot[field])];
      if (levels.is_given()) continue;
      const std::vector<double> number = levels.sort();
      const auto renumber = [&](double& code) {
        if (code >= 0.0) code = number[static_cast<std::size_t>(code)];
      };
      if (layout_.role[field] == Role::target) std::for_each(table_.y.begin(), table_.y.end(), renumber);
      if (layout_.role[field] == Role::fold) std::for_each(table_.fold.begin(), table_.fold.end(), renumber);
      if (layout_.role[field] != Role::feature) continue;
      double* const code = table_.values.data() + layout_.place[field];
      for (Index row = 0; row < table_.rows; ++row) renumber(code[row * layout_.features]);
    }
  }

  // Features of columns of which some are no plain numbers.
  void add_features_of_text(Dataset& data) {
    TableForm& form = data.table;
    form.drop_first = options_.like.is_plain() ? options_.drop_first : options_.like.drop_first;
    std::vector<std::size_t> fields = fields_in_order();
    if (options_.like.columns.empty()) std::erase_if(fields, [&](std::size_t at) { return is_id(at, data); });
    std::vector<ColumnToEncode> columns;
    bool is_as_read = static_cast<Index>(fields.size()) == layout_.features;
    for (const std::size_t field : fields) {
      is_as_read &= layout_.slot[field] < 0 && layout_.place[field] == static_cast<Index>(columns.size());
      TableColumn column{.name = like_fields_.empty() ? layout_.name_of(static_cast<Index>(field))
                                                      : options_.like.columns[columns.size()].name,
                         .kind = layout_.kind[field].kind,
                         .order = layout_.kind[field].order};
      if (const std::string& unit = layout_.kind[field].unit; !unit.empty()) column.levels = {unit};
      ColumnToEncode encode{
          .place = layout_.place[field], .features = 1, .is_category = false, .drops_first = form.drop_first};
      if (const Levels* levels = levels_of(field)) {
        column.levels = levels->texts();
        encode.is_category = true;
        encode.features = static_cast<Index>(column.levels.size()) - (form.drop_first ? 1 : 0);
        for (std::size_t k = form.drop_first ? 1 : 0; k < column.levels.size(); ++k)
          data.feature_names.push_back(fmt::format("{}={}", column.name, column.levels[k]));
        if (levels->unseen() > 0)
          data.notes.push_back(
              fmt::format("{} of {} fields of column {} have none of its {} levels (the first: {}), and are "
                          "read as none of "
                          "them; --unseen refuse refuses them",
                          levels->unseen(), table_.rows, in_quotes(column.name), column.levels.size(),
                          levels->first_unseen().empty() ? "empty" : in_quotes(levels->first_unseen())));
      } else {
        data.feature_names.push_back(column.name);
      }
      columns.push_back(encode);
      form.columns.push_back(std::move(column));
    }
    if (options_.like.columns.empty()) add_notes(data);
    data.x = is_as_read ? rows_as_read()
                        : encoded(table_.values.data(), table_.rows, layout_.features, columns,
                                  options_.dense, stream_.limit(), data.source);
  }

  // The places of the features' fields, in the order of the file or in that of another table.
  std::vector<std::size_t> fields_in_order() const {
    if (!like_fields_.empty()) return like_fields_;
    std::vector<std::size_t> fields;
    for (std::size_t field = 0; field < layout_.role.size(); ++field)
      if (layout_.role[field] == Role::feature) fields.push_back(field);
    return fields;
  }

  // Text that hardly ever comes twice tells rows apart and nothing else: it is passed over, unless it was
  // asked for.
  bool is_id(std::size_t field, Dataset& data) {
    const Levels* levels = levels_of(field);
    if (levels == nullptr || layout_.kind[field].is_forced) return false;
    const bool has_gaps = !levels->texts().empty() && levels->texts().front().empty();
    const auto different = static_cast<Index>(levels->texts().size()) - (has_gaps ? 1 : 0);
    Index present = 0;
    const double* const code = table_.values.data() + layout_.place[field];
    for (Index row = 0; row < table_.rows; ++row)
      present += code[row * layout_.features] >= (has_gaps ? 1.0 : 0.0);
    if (different <= 2 || 2 * different <= present) return false;
    const std::string name = layout_.name_of(static_cast<Index>(field));
    data.notes.push_back(
        fmt::format("column {} is passed over: its {} texts are {} different ones (--categorical {} takes it "
                    "all the same)",
                    in_quotes(name), present, different, name));
    return true;
  }

  // What became of columns that are no plain numbers.
  static void add_notes(Dataset& data) {
    std::vector<std::string> categories, dates;
    for (const TableColumn& column : data.table.columns) {
      if (column.kind == ColumnKind::category)
        categories.push_back(fmt::format("{} ({})", column.name, column.levels.size()));
      if (column.kind == ColumnKind::date) dates.push_back(column.name);
    }
    if (!categories.empty())
      data.notes.push_back(
          fmt::format("text becomes a feature for each of its levels: {}", comma_separated(categories)));
    if (!dates.empty())
      data.notes.push_back(fmt::format("dates are numbers of days since 1970-01-01, times parts of a day: {}",
                                       comma_separated(dates)));
  }

  // What a thread read of a piece of a block.
  struct Part {
    Table table;
    std::uint64_t lines = 0;
  };

  ByteStream& stream_;
  std::span<const std::filesystem::path> further_;
  SourceLines lines_;
  std::vector<std::string> header_;  // as it stands in the first file
  const ReadOptions& options_;
  Separator separator_;
  Encoding encoding_;
  std::size_t block_bytes_;
  Layout layout_;
  std::vector<std::size_t> like_fields_;  // of the columns of another table
  std::vector<LookedAt> columns_;
  Looks looks_;
  bool has_text_ = false;
  bool says_delimiter_ = false;     // a line of the file
  std::vector<std::string> notes_;  // of the header and of the columns
  Table table_;
  std::vector<Part> parts_;
  std::vector<BlankLine> blank_lines_;  // behind the last row
};

}  // namespace

Dataset read_csv_range(ByteStream& stream, Separator separator, const ReadOptions& options,
                       const ByteRange& range) {
  return CsvReader(stream, {}, options, separator, Encoding::utf8).read_range(range);
}

Dataset read_csv(std::span<const std::filesystem::path> files, ByteStream& stream, Separator separator,
                 const ReadOptions& options, Encoding encoding) {
  const std::filesystem::path& file = files.front();
  if (options.decimal != '\0' && options.decimal != '.' && options.decimal != ',')
    throw InputError(fmt::format("{}: decimal = {}: must be . or ,", file.string(), options.decimal));
  const auto reader = [&](ByteStream& first) {
    return CsvReader(first, files.subspan(1), options, separator, encoding);
  };
  if (!std::filesystem::is_regular_file(file)) return reader(stream).read(nullptr, true);
  // A file of numbers is read once. Where something in it is none, all of it is looked at before a column is
  // taken for text.
  try {
    return reader(stream).read(nullptr, false);
  } catch (const UnexpectedText&) {
    if (!options.like.is_plain()) throw;
  }
  ByteStream to_look = open_text(file, options.max_memory, encoding);
  const Looked looked = reader(to_look).look();
  ByteStream again = open_text(file, options.max_memory, encoding);
  return reader(again).read(&looked, false);
}

}  // namespace yosida
