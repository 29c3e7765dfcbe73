#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "data/decimal.hpp"
#include "data/formats.hpp"
#include "data/text_blocks.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr std::int32_t largest_index = std::numeric_limits<std::int32_t>::max();

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Takes the next word off the front of `line`; empty at its end.
std::string_view take_word(std::string_view& line) {
  const auto begin = std::find_if_not(line.begin(), line.end(), is_blank);
  const auto end = std::find_if(begin, line.end(), is_blank);
  line = {end, line.end()};
  return {begin, end};
}

struct Entry {
  std::int32_t index = -1;  // -1: none
  double value = 0.0;
};

// How much there is in a table, and what it takes.
struct Size {
  std::uint64_t columns = 0, rows = 0, entries = 0;

  std::uint64_t bytes() const {
    // Tuning holds some thirty vectors of a number for each column: weights, gradients, directions,
    // deviations.
    constexpr std::uint64_t bytes_of_column = 32 * sizeof(double);
    constexpr std::uint64_t bytes_of_row = sizeof(std::int64_t) + sizeof(double);
    constexpr std::uint64_t bytes_of_entry = sizeof(std::int32_t) + sizeof(double);
    return bytes_of_column * columns + bytes_of_row * rows + bytes_of_entry * entries;
  }
};

Size size_of(const SparseRows& x) {
  return {.columns = static_cast<std::uint64_t>(x.columns),
          .rows = static_cast<std::uint64_t>(x.rows()),
          .entries = x.value.size()};
}

struct Table {
  SparseRows x;  // columns are counted from 1 in the file: an index of 0 is column -1 here
  std::vector<double> y;
  bool has_zero = false;  // an index

  void append(const Table& part) {
    const auto before = static_cast<std::int64_t>(x.value.size());
    x.value.insert(x.value.end(), part.x.value.begin(), part.x.value.end());
    x.column.insert(x.column.end(), part.x.column.begin(), part.x.column.end());
    for (std::size_t i = 1; i < part.x.row_start.size(); ++i)
      x.row_start.push_back(before + part.x.row_start[i]);
    x.columns = std::max(x.columns, part.x.columns);
    y.insert(y.end(), part.y.begin(), part.y.end());
    has_zero |= part.has_zero;
  }

  // Its indices count from 0.
  void count_from_zero() {
    for (std::int32_t& column : x.column) ++column;
    ++x.columns;
  }

  void clear() {
    x.value.clear();
    x.column.clear();
    x.row_start.resize(1);
    x.columns = 0;
    y.clear();
    has_zero = false;
  }
};

// Turns lines into the rows of a table.
class RowReader {
 public:
  RowReader(std::string_view source, Table& table) : source_(source), table_(table) {}

  void read(std::string_view line, std::uint64_t line_number) {
    line_number_ = line_number;
    std::string_view words = line.substr(0, line.find('#'));
    const std::string_view label = take_word(words);
    if (label.empty()) return;
    table_.y.push_back(parse_label(label));
    std::int32_t previous = -1;
    for (Entry entry = take_entry(words, previous); entry.index >= 0; entry = take_entry(words, previous)) {
      previous = entry.index;
      table_.has_zero |= entry.index == 0;
      if (entry.value == 0.0) continue;
      table_.x.column.push_back(entry.index - 1);
      table_.x.value.push_back(entry.value);
    }
    table_.x.columns = std::max<Index>(table_.x.columns, std::max<Index>(previous, 0));
    table_.x.row_start.push_back(static_cast<std::int64_t>(table_.x.value.size()));
  }

 private:
  // Takes the next entry off the front of `words`; none at their end. The time of a large file goes here.
  Entry take_entry(std::string_view& words, std::int32_t previous) const {
    const char* const end = words.data() + words.size();
    const char* const begin = std::find_if_not(words.data(), end, is_blank);
    if (begin == end) return {};
    constexpr std::ptrdiff_t most_digits = 9;
    Entry entry{.index = 0};
    const char* at = begin;
    while (at != end && decimal::is_digit(*at) && at - begin < most_digits)
      entry.index = 10 * entry.index + (*at++ - '0');
    if (at != end && at != begin && *at == ':' && entry.index > previous) {
      const char* const stop = decimal::read(at + 1, end, entry.value);
      if (stop != nullptr && (stop == end || is_blank(*stop))) {
        words = {stop, end};
        return entry;
      }
    }
    return parse_entry(take_word(words), previous);
  }

  double parse_label(std::string_view word) const {
    const auto label = parse_number(word);
    if (!label || !std::isfinite(*label)) {
      throw InputError(
          fmt::format("{}:{}: the label is {}: must be a finite number; encode classes as numbers first",
                      source_, line_number_, in_quotes(word)));
    }
    return *label;
  }

  // The entry "index:value"; `previous` is the index before it on the line.
  Entry parse_entry(std::string_view word, std::int32_t previous) const {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) throw refusal(word, "must be index:value");
    if (word.starts_with("qid:")) {
      throw refusal(word, "ranking data with query ids cannot be read; take the qid entries out");
    }
    Entry entry{};
    const auto [stop, error] = std::from_chars(word.data(), word.data() + colon, entry.index);
    if (error != std::errc{} || stop != word.data() + colon) {
      throw refusal(word, fmt::format("its index must be a whole number from 1 to {}", largest_index));
    }
    if (entry.index < 0) throw refusal(word, "LIBSVM indices start at 1, or at 0");
    if (entry.index <= previous) {
      throw refusal(word,
                    fmt::format("it follows index {}, but the indices of a line must ascend", previous));
    }
    const auto value = parse_number(word.substr(colon + 1));
    if (!value) throw refusal(word, "its value must be a number; encode text categories as numbers first");
    if (!std::isfinite(*value))
      throw refusal(word, "its value must be finite; an entry that is left out is 0");
    entry.value = *value;
    return entry;
  }

  InputError refusal(std::string_view word, std::string_view rule) const {
    return InputError(fmt::format("{}:{}: entry {}: {}", source_, line_number_, in_quotes(word), rule));
  }

  std::string_view source_;
  Table& table_;
  std::uint64_t line_number_ = 0;
};

class LibsvmReader {
 public:
  /// Reads `stream` and then the files behind it.
  LibsvmReader(ByteStream& stream, std::span<const std::filesystem::path> further, std::uint64_t max_memory)
      : stream_(stream), further_(further), max_memory_(max_memory) {}

  // Indices count from 1, or from 0 where `from_zero` says so or there is one.
  Dataset read(bool from_zero) {
    for (;; open_next()) {
      const std::size_t bytes = block_bytes(stream_.limit());
      for (auto block = next_block(bytes); !block.empty(); block = next_block(bytes))
        if (!read_in_pieces(block)) read_in_order(block);
      if (further_.empty()) return dataset(from_zero);
    }
  }

 private:
  void open_next() {
    const std::uint64_t bytes_before = stream_.limit().file_bytes;
    stream_ = open_text(further_.front(), max_memory_);
    stream_.shared_limit()->file_bytes += bytes_before;
    further_ = further_.subspan(1);
  }

  Dataset dataset(bool from_zero) {
    Dataset data;
    if (table_.has_zero && !from_zero)
      data.notes.emplace_back("indices count from 0, as scikit-learn writes them");
    data.table.from_zero = from_zero || table_.has_zero;
    if (data.table.from_zero) table_.count_from_zero();
    data.x = std::move(table_.x);
    data.y = Eigen::Map<const Vector>(table_.y.data(), static_cast<Index>(table_.y.size()));
    data.source = stream_.name();
    return data;
  }

  std::string_view next_block(std::size_t bytes) { return stream_.peek_lines(bytes, "the line"); }

  // False where the block must be read in order: something in it is wrong, or takes more memory than it may.
  bool read_in_pieces(std::string_view block) {
    const std::vector<std::string_view> pieces = cut_to_pieces(block, no_quotes);
    if (pieces.size() == 1) return false;
    parts_.resize(std::max(parts_.size(), pieces.size()));
    const auto read_piece = [&](std::size_t i) {
      Part& part = parts_[i];
      part.table.clear();
      TextLines lines(pieces[i], stream_.name(), 0);
      RowReader rows(stream_.name(), part.table);
      while (const auto line = lines.next()) rows.read(*line, lines.taken());
      part.lines = lines.taken();
      return true;
    };
    if (!read_pieces(pieces, read_piece)) return false;
    Size size = size_of(table_.x);
    std::uint64_t lines = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Size part = size_of(parts_[i].table.x);
      size = {.columns = std::max(size.columns, part.columns),
              .rows = size.rows + part.rows,
              .entries = size.entries + part.entries};
      lines += parts_[i].lines;
    }
    if (!stream_.limit().allows(size.bytes(), MemoryLimit::for_each_sparse_byte)) return false;
    for (std::size_t i = 0; i < pieces.size(); ++i) table_.append(parts_[i].table);
    stream_.skip_lines(block.size(), lines);
    return true;
  }

  void read_in_order(std::string_view block) {
    TextLines lines(block, stream_.name(), stream_.lines_taken());
    RowReader rows(stream_.name(), table_);
    while (const auto line = lines.next()) {
      rows.read(*line, lines.taken());
      require_memory(lines.taken());
    }
    stream_.skip_lines(block.size(), lines.taken() - stream_.lines_taken());
  }

  void require_memory(std::uint64_t line) const {
    const std::uint64_t bytes = size_of(table_.x).bytes();
    constexpr std::uint64_t each = MemoryLimit::for_each_sparse_byte;
    if (!stream_.limit().allows(bytes, each))
      throw stream_.limit().refusal(
          fmt::format("{}:{}: data of {} columns", stream_.name(), line, table_.x.columns), bytes, each);
  }

  // What a thread read of a piece of a block.
  struct Part {
    Table table;
    std::uint64_t lines = 0;
  };

  ByteStream& stream_;
  std::span<const std::filesystem::path> further_;
  std::uint64_t max_memory_;
  Table table_;
  std::vector<Part> parts_;
};

}  // namespace

// The first line with more than a label tells: its second word is index:value. Labels alone may be rows of
// zeros.
bool is_libsvm(ByteStream& stream) {
  constexpr std::size_t most_looked_at = std::size_t{1} << 16;
  for (std::string_view text = stream.peek(most_looked_at); !text.empty();) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view words = text.substr(0, std::min(text.find('#'), end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view label = take_word(words);
    const std::string_view second = take_word(words);
    if (!second.empty())
      return second.find(':') != std::string_view::npos &&
             second.find_first_of(",;") == std::string_view::npos;
    if (!label.empty() && !parse_number(label)) return false;
  }
  return true;
}

Dataset read_libsvm_range(ByteStream& stream, const ReadOptions& options, const ByteRange& range) {
  stream.go_to(range);
  return LibsvmReader(stream, {}, options.max_memory).read(options.like.from_zero);
}

Dataset read_libsvm(std::span<const std::filesystem::path> files, ByteStream& stream,
                    const ReadOptions& options) {
  // "0" is what it is in any case: the first field of the line.
  if (!options.target.empty() && options.target != "0" && !options.target_optional) {
    throw InputError(
        fmt::format("{}: there is no target column {}: a LIBSVM file has its target in the first field, "
                    "so leave the target out",
                    stream.name(), in_quotes(options.target)));
  }
  Dataset data = LibsvmReader(stream, files.subspan(1), options.max_memory).read(options.like.from_zero);
  if (data.rows() == 0) throw InputError(fmt::format("{}: holds no rows", stream.name()));
  if (options.dense) {
    const auto bytes = sizeof(double) * static_cast<std::uint64_t>(data.rows()) *
                       static_cast<std::uint64_t>(data.features());
    if (!stream.limit().allows(bytes))
      throw stream.limit().refusal(
          fmt::format("{}: a dense design of {} x {} numbers", stream.name(), data.rows(), data.features()),
          bytes);
    data.x = Design(to_matrix(data.x));
  }
  return data;
}

}  // namespace yosida
