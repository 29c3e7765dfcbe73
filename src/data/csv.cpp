#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "data/csv_dataset.hpp"
#include "data/csv_header.hpp"
#include "data/csv_rows.hpp"
#include "data/doubts.hpp"
#include "data/formats.hpp"
#include "data/look_together.hpp"
#include "data/text_blocks.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

using namespace csv;

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

/// So many lines below a table may be remarks.
constexpr std::size_t kMostRemarks = 20;

class CsvReader {
 public:
  /// Reads `stream` and then the files behind it.
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
    const bool is_said = options.decimal != '\0' || options.like.is_plain();
    layout_.decimal = is_said ? options.decimal : options.like.decimal;
  }

  /// All fields, to say what the columns are. Throws TableError where one cannot be read.
  Looked look() {
    const std::optional<Record> row = read_first_record();
    begin_look();
    if (row) look_at(*row, looks_, 0);
    for_each_block([&](std::string_view block) { look_at_block(block); });
    return decided();
  }

  /// The decimal mark that the columns of numbers have, as their text tells; 0 where it does not.
  char own_decimal() {
    const std::optional<Record> row = read_first_record();
    begin_look();
    std::erase_if(columns_, [](const LookedAt& column) { return column.kind.kind != ColumnKind::number; });
    if (row) look_at(*row, looks_, 0);
    for_each_block([&](std::string_view block) { look_at_block(block); });
    for (LookedAt& column : columns_) column.look = std::move(looks_[column.field]);
    return decimal_of(columns_);
  }

  /// Together: what the text of all rows says of the columns, where each process sees those within its
  /// range of each file.
  Looked look_within(std::span<const ByteRange> own) {
    const auto look = [&] {
      const std::optional<Record> row = read_first_record();
      begin_look();
      if (row && own.front().begin == 0) look_at(*row, looks_, 0);
      for_each_block_within(own, [&](std::string_view block) { look_at_block(block); });
    };
    look_together(look, looks_);
    // The fields before it say whether it is a text or a number that is refused.
    if (std::any_of(looks_.begin(), looks_.end(), [](const ColumnLook& each) { return each.has_infinite(); }))
      throw InputError(fmt::format("{}: a number is infinite", layout_.source));
    return decided();
  }

  /// Together: likewise the table without its rows, but with the levels of all of them.
  Dataset form_within(const Looked& known, std::span<const ByteRange> own) {
    const auto read = [&] {
      const std::optional<Record> row = read_first_record();
      for (std::size_t field = 0; field < layout_.role.size(); ++field)
        if (layout_.role[field] == Role::fold && known.kind[field].kind == ColumnKind::category)
          throw InputError(fmt::format("{}: a form does not hold the names of groups", layout_.source));
      const std::string first_row(row ? row->text : "");
      take(known);
      lay_out();
      RowReader rows(layout_, table_);
      if (row && own.front().begin == 0)
        rows.read({.text = first_row, .line = row->line, .has_quotes = row->has_quotes});
      for_each_block_within(own, [&](std::string_view block) {
        read_block(block);
        table_.drop_rows();
      });
      table_.drop_rows();
    };
    look_together(read, table_.levels);
    return dataset();
  }

  /// The rows of a part of the last file.
  Dataset read_part(const CsvPart& part) {
    const std::optional<Record> row = read_first_record();
    std::string first_row(row ? row->text : "");
    const bool is_first = further_.empty() && part.range.begin == 0;
    if (!further_.empty()) open_next();
    stream_.go_to(part.range);
    lay_out();
    RowReader rows(layout_, table_);
    if (row && is_first) rows.read({.text = first_row, .line = row->line, .has_quotes = row->has_quotes});
    for_each_block([&](std::string_view block) { read_block(block); });
    if (!blank_lines_.empty() && !part.ends_file)
      throw InputError(fmt::format("{}: a line is blank", layout_.source));
    if (comments_ > 0 || headers_ > 0 || !remarks_.empty())
      throw InputError(fmt::format("{}: a line is no row", layout_.source));
    if (options_.missing != Missing::refuse && !part.knows_form && has_empty_column())
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
    if (options_.like.is_plain()) doubts_ = doubts_of(layout_, table_);
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

  // Reads, of each file, the bytes within a range, which begins and ends with a line.
  template <typename Body>
  void for_each_block_within(std::span<const ByteRange> ranges, const Body& body) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (i > 0) open_next();
      stream_.go_to(ranges[i]);
      for (std::string_view block = next_block(); !block.empty(); block = next_block()) body(block);
    }
  }

  // The next file goes on where the last one has ended: with the same header, or with none where that had
  // none.
  void open_next() {
    blank_lines_.clear();
    pass_over_remarks();
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
    for (std::size_t field = 0; field < layout_.role.size(); ++field)
      if (layout_.role[field] == Role::feature && is_empty(field)) return true;
    return false;
  }
  bool is_empty(std::size_t field) {
    if (layout_.slot[field] >= 0)
      return table_.levels[static_cast<std::size_t>(layout_.slot[field])].present() == 0;
    const double* const x = table_.values.data() + layout_.place[field];
    Index row = 0;
    while (row < table_.rows && std::isnan(x[row * layout_.features])) ++row;
    return row == table_.rows;
  }

  std::optional<Record> read_first_record() {
    FirstLines first = read_first_lines(stream_, block_bytes_, options_, separator_, layout_);
    header_ = std::move(first.header);
    header_line_ = std::move(first.header_line);
    notes_ = std::move(first.notes);
    return first.row;
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
    bool has_more = false;
    const Index fields = layout_.for_each_field(record, [&](Index field, std::string_view text) {
      has_more |= field >= layout_.columns && !text.empty();
      if (field < layout_.columns && layout_.role[static_cast<std::size_t>(field)] != Role::ignored)
        looks[static_cast<std::size_t>(field)].add(text, record.line + lines_before);
    });
    if (fields < layout_.columns || has_more) throw layout_.ragged(record, layout_.columns);
  }

  // Blank lines are judged when rows are read, and so are comments and remarks below the table.
  bool is_no_row(std::string_view line) const {
    return layout_.is_blank_line(line) || is_header(line) || layout_.is_remark(line, layout_.columns);
  }
  // Files that were joined have a header each.
  bool is_header(std::string_view line) const { return !header_line_.empty() && line == header_line_; }

  std::uint64_t look_at_all(std::string_view block, std::uint64_t lines_before) {
    Records records(block, layout_.source, lines_before);
    while (const auto record = records.next())
      if (!is_no_row(record->text)) look_at(*record, looks_, lines_.before());
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
        if (!is_no_row(record->text)) look_at(*record, looks[i], 0);
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
          (column.kind.kind != ColumnKind::number || (!column.kind.is_forced && !column.look.is_plain()));
    }
    return looked;
  }

  void take(const Looked& known) {
    layout_.kind = known.kind;
    layout_.decimal = known.decimal;
    layout_.has_text = known.has_text;
    for (const std::size_t field : known.empty) {
      layout_.role[field] = Role::ignored;
      --layout_.features;
      notes_.push_back(fmt::format("column {} is passed over: no row has a value there",
                                   layout_.in_words(static_cast<Index>(field))));
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
        layout_.has_text |= role == Role::feature;
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
    const auto known = std::find(layout_.like_fields.begin(), layout_.like_fields.end(), field);
    if (known == layout_.like_fields.end()) return {};
    return Levels(
        options_.like.columns[static_cast<std::size_t>(known - layout_.like_fields.begin())].levels);
  }

  std::string_view next_block() { return next_records(stream_, block_bytes_); }

  void read_block(std::string_view block) {
    if (!read_in_pieces(block)) read_in_order(block);
    std::uint64_t bytes = 0;
    for (const Levels& levels : table_.levels) bytes += levels.bytes();
    if (bytes > 0) require_memory(stream_, bytes, "the levels of its categories", stream_.lines_taken());
  }

  // False where the block must be read in order: something in it is wrong, a line is blank, or memory may not
  // do.
  bool read_in_pieces(std::string_view block) {
    // A row has at least a byte for each of its columns.
    const std::uint64_t at_most = layout_.bytes(table_.rows + 1) + sizeof(double) * block.size();
    const std::vector<std::string_view> pieces = cut_to_pieces(block, quote);
    if (pieces.size() == 1 || !blank_lines_.empty() || !remarks_.empty() || !stream_.limit().allows(at_most))
      return false;
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
        if (is_no_row(record->text)) return false;
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
        require_memory(stream_, blank_lines_.size() * sizeof(BlankLine), "the number of blank lines",
                       record->line);
        continue;
      }
      if (is_header(record->text)) {
        ++headers_;
        continue;
      }
      if (layout_.is_remark(record->text, layout_.columns)) {
        take_remark(*record);
        continue;
      }
      if (!remarks_.empty())
        throw layout_.ragged({.text = remarks_[0].second, .line = remarks_[0].first}, layout_.columns);
      for (const BlankLine& line : blank_lines_) read_blank_row(rows, line);
      blank_lines_.clear();
      read_row(rows, *record, records.lines_taken());
    }
    stream_.skip_lines(block.size(), records.lines_taken() - stream_.lines_taken());
  }

  // A comment stands anywhere, other words below the table only.
  void take_remark(const Record& record) {
    if (trimmed(record.text).starts_with('#')) {
      ++comments_;
      return;
    }
    if (remarks_.size() == kMostRemarks) throw layout_.ragged(record, layout_.columns);
    remarks_.emplace_back(record.line, record.text);
  }

  void pass_over_remarks() {
    for (const auto& [line, text] : remarks_)
      notes_.push_back(fmt::format("line {} is passed over: {}", line, in_quotes(text)));
    remarks_.clear();
  }

  void read_blank_row(RowReader& rows, const BlankLine& blank) {
    if (layout_.columns > 1 && !blank.is_row) {
      if (layout_.missing == Missing::drop) return;
      if (!options_.like.is_plain()) {
        ++passed_over_;
        return;
      }
      const std::string message = fmt::format("{}:{}: the line is blank where {} fields are expected",
                                              layout_.source, blank.line, layout_.columns);
      if (!layout_.gives_hints) throw InputError(message);
      throw TableError(message + "\n  it can be read with --missing drop", "--missing drop");
    }
    const std::string fields(static_cast<std::size_t>(layout_.columns - 1), layout_.delimiter);
    read_row(rows, {.text = fields, .line = blank.line}, blank.line);
  }

  void read_row(RowReader& rows, const Record& record, std::uint64_t last_line) {
    require_memory(stream_, layout_.bytes(table_.rows + 1), "the table up to here", last_line);
    rows.read(record);
  }

  Dataset dataset() {
    pass_over_remarks();
    const auto lines = [](std::int64_t count) {
      return fmt::format("{} {}", count, count == 1 ? "line" : "lines");
    };
    if (comments_ > 0) notes_.push_back(fmt::format("passed over: {} with # in front", lines(comments_)));
    if (headers_ > 0)
      notes_.push_back(
          fmt::format("passed over: {} below the header that the header stands in again", lines(headers_)));
    if (passed_over_ > 0)
      notes_.push_back(
          fmt::format("{} blank {} passed over", passed_over_, passed_over_ == 1 ? "line is" : "lines are"));
    Dataset data = dataset_of(layout_, table_, options_, stream_.limit(), std::move(notes_));
    data.notes.insert(data.notes.end(), doubts_.begin(), doubts_.end());
    return data;
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
  std::string header_line_;          // its text
  const ReadOptions& options_;
  Separator separator_;
  Encoding encoding_;
  std::size_t block_bytes_;
  Layout layout_;
  std::vector<LookedAt> columns_;
  Looks looks_;
  std::vector<std::string> notes_;   // of the header and of the columns
  std::vector<std::string> doubts_;  // notes of the rows
  Table table_;
  std::vector<Part> parts_;
  std::vector<BlankLine> blank_lines_;  // behind the last row
  std::int64_t passed_over_ = 0;        // of these, between rows of a table that is read like another
  std::int64_t comments_ = 0;           // lines with # in front
  std::int64_t headers_ = 0;            // lines that are the header once more
  std::vector<std::pair<std::uint64_t, std::string>> remarks_;  // behind the last row
};

}  // namespace

Dataset read_csv_part(std::span<const std::filesystem::path> files, Separator separator,
                      const ReadOptions& options, const CsvPart& part) {
  ByteStream first = open_text(files.front(), options.max_memory);
  const auto further = files.subspan(part.file, part.file == 0 ? 0 : 1);
  return CsvReader(first, further, options, separator, Encoding::utf8).read_part(part);
}

Dataset read_csv_form(std::span<const std::filesystem::path> files, Separator separator,
                      const ReadOptions& options, std::span<const ByteRange> own) {
  const auto reader = [&](ByteStream& first) {
    return CsvReader(first, files.subspan(1), options, separator, Encoding::utf8);
  };
  ByteStream to_look = open_text(files.front(), options.max_memory);
  const Looked looked = reader(to_look).look_within(own);
  ByteStream again = open_text(files.front(), options.max_memory);
  return reader(again).form_within(looked, own);
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
  // A file of numbers is read once. Where a field is no number, the whole file is looked at before a column
  // counts as text, or, in a file that is read like another, before it has a decimal mark of its own.
  ReadOptions with_own_mark = options;
  std::optional<Looked> looked;
  try {
    return reader(stream).read(nullptr, false);
  } catch (const UnexpectedText&) {
    ByteStream to_look = open_text(file, options.max_memory, encoding);
    if (options.like.is_plain()) {
      looked = reader(to_look).look();
    } else {
      if (options.decimal != '\0') throw;
      with_own_mark.decimal = reader(to_look).own_decimal();
      if (with_own_mark.decimal == '\0' || with_own_mark.decimal == options.like.decimal) throw;
    }
  }
  ByteStream again = open_text(file, options.max_memory, encoding);
  return CsvReader(again, files.subspan(1), with_own_mark, separator, encoding)
      .read(looked ? &*looked : nullptr, false);
}

}  // namespace yosida
