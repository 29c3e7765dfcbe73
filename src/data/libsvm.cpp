#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "data/formats.hpp"
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
  std::int32_t index;
  double value;
};

class LibsvmReader {
 public:
  explicit LibsvmReader(ByteStream& stream) : stream_(stream) {}

  Dataset read() {
    SparseRows x;
    std::vector<double> y;
    while (auto line = stream_.next_line()) {
      ++line_number_;
      std::string_view words = line->substr(0, line->find('#'));
      const std::string_view label = take_word(words);
      if (label.empty()) continue;
      y.push_back(parse_label(label));
      std::int32_t previous = 0;
      for (auto word = take_word(words); !word.empty(); word = take_word(words)) {
        const auto [index, value] = parse_entry(word, previous);
        previous = index;
        if (value == 0.0) continue;
        x.column.push_back(index - 1);
        x.value.push_back(value);
      }
      x.columns = std::max<Index>(x.columns, previous);
      x.row_start.push_back(static_cast<std::int64_t>(x.value.size()));
      require_memory(x);
    }
    if (y.empty()) throw InputError(fmt::format("{}: holds no rows", stream_.name()));
    Dataset data;
    data.x = std::move(x);
    data.y = Eigen::Map<const Vector>(y.data(), static_cast<Index>(y.size()));
    data.source = stream_.name();
    return data;
  }

 private:
  // Tuning holds some thirty vectors of a number for each column: weights, gradients, directions, deviations.
  void require_memory(const SparseRows& x) const {
    constexpr std::uint64_t bytes_of_column = 32 * sizeof(double);
    constexpr std::uint64_t bytes_of_row = sizeof(std::int64_t) + sizeof(double);
    constexpr std::uint64_t bytes_of_entry = sizeof(std::int32_t) + sizeof(double);
    const std::uint64_t bytes = bytes_of_column * static_cast<std::uint64_t>(x.columns) +
                                bytes_of_row * x.row_start.size() + bytes_of_entry * x.value.size();
    constexpr std::uint64_t each = MemoryLimit::for_each_sparse_byte;
    if (!stream_.limit().allows(bytes, each))
      throw stream_.limit().refusal(
          fmt::format("{}:{}: data of {} columns", stream_.name(), line_number_, x.columns), bytes, each);
  }

  double parse_label(std::string_view word) const {
    const auto label = parse_number(word);
    if (!label || !std::isfinite(*label)) {
      throw InputError(
          fmt::format("{}:{}: the label is {}: must be a finite number; encode classes as numbers first",
                      stream_.name(), line_number_, in_quotes(word)));
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
    if (entry.index < 1) throw refusal(word, "LIBSVM indices start at 1");
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
    return InputError(
        fmt::format("{}:{}: entry {}: {}", stream_.name(), line_number_, in_quotes(word), rule));
  }

  ByteStream& stream_;
  Index line_number_ = 0;
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

Dataset read_libsvm(ByteStream& stream, const ReadOptions& options) {
  // "0" is what it is in any case: the first field of the line.
  if (!options.target.empty() && options.target != "0" && !options.target_optional) {
    throw InputError(
        fmt::format("{}: there is no target column {}: a LIBSVM file has its target in the first field, "
                    "so leave the target out",
                    stream.name(), in_quotes(options.target)));
  }
  Dataset data = LibsvmReader(stream).read();
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
