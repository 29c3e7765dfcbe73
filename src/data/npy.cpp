#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "data/formats.hpp"
#include "linalg/columns.hpp"
#include "linalg/large_blocks.hpp"
#include "linalg/tasks.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

// The numbers of an array.

using Decoder = void (*)(std::span<const char> bytes, bool swapped, double* out);

template <typename Number>
void decode(std::span<const char> bytes, bool swapped, double* out) {
  std::array<char, sizeof(Number)> raw;
  for (; !bytes.empty(); bytes = bytes.subspan(raw.size())) {
    std::copy_n(bytes.data(), raw.size(), raw.data());
    if (swapped) std::reverse(raw.begin(), raw.end());
    *out++ = static_cast<double>(std::bit_cast<Number>(raw));
  }
}

struct Encoding {
  char kind;
  std::size_t bytes;
  Decoder decode;
};
constexpr std::array<Encoding, 11> encodings{{
    {'f', 4, decode<float>},
    {'f', 8, decode<double>},
    {'i', 1, decode<std::int8_t>},
    {'i', 2, decode<std::int16_t>},
    {'i', 4, decode<std::int32_t>},
    {'i', 8, decode<std::int64_t>},
    {'u', 1, decode<std::uint8_t>},
    {'u', 2, decode<std::uint16_t>},
    {'u', 4, decode<std::uint32_t>},
    {'u', 8, decode<std::uint64_t>},
    {'b', 1, decode<std::uint8_t>},
}};

Decoder find_decoder(char kind, std::size_t bytes) {
  for (const Encoding& encoding : encodings) {
    if (encoding.kind == kind && encoding.bytes == bytes) return encoding.decode;
  }
  return nullptr;
}

class ArrayReader {
 public:
  ArrayReader(ByteStream& stream, const ArrayLayout& layout, const ReadOptions& options,
              const ArrayPart& part)
      : stream_(stream), layout_(layout), missing_(options.missing), part_(part) {
    constexpr std::uint64_t most_numbers = std::uint64_t{1} << 48;  // more than any memory holds
    std::uint64_t count = 1;
    if (part.is_one_of_several && layout.shape.front() == 0) throw NoRows(name());
    for (const std::uint64_t size : layout.shape) {
      if (size == 0) throw InputError(fmt::format("{}: holds no rows: its shape is {}", name(), shape()));
      if (size > most_numbers / count) {
        throw InputError(fmt::format("{}: the file is corrupt: its shape is {}", name(), shape()));
      }
      count *= size;
    }
    rows_ = static_cast<Index>(layout.shape.front());
    cols_ = static_cast<Index>(count) / rows_;
    target_ = target_column(name(), options, cols_);
  }

  Dataset read() {
    Dataset data;
    data.source = name();
    if (is_as_kept<double>() && view<double>(data)) return data;
    if (is_as_kept<float>() && view<float>(data)) return data;
    read_numbers();
    if (target_) data.y = take_target();
    const std::shared_ptr<const double> numbers = values_.release(rows_ * cols_);
    data.x = dense_view(numbers.get(), rows_, cols_, cols_, numbers);
    return data;
  }

 private:
  const std::string& name() const { return stream_.name(); }
  Index size() const { return rows_ * cols_; }
  std::string shape() const {
    std::vector<std::string> sizes;
    for (const std::uint64_t size : layout_.shape) sizes.push_back(std::to_string(size));
    return fmt::format("({})", comma_separated(sizes));
  }

  bool is_scattered() const { return layout_.by_column && rows_ > 1 && cols_ > 1; }
  bool is_swapped() const { return layout_.big_endian == (std::endian::native == std::endian::little); }
  // Whether a number is kept in memory as it lies in the file.
  template <typename Number>
  bool is_as_kept() const {
    return layout_.kind == 'f' && layout_.bytes == sizeof(Number) && !is_swapped();
  }

  // The numbers where they lie in the file, not copied; false where they do not lie row by row, or with a
  // target in the middle of each row. A small file is copied: that costs nothing, and nobody can change a
  // copy.
  template <typename Number>
  bool view(Dataset& data) {
    constexpr Index least_numbers = Index{1} << 17;
    const bool has_inner_target = target_ && *target_ > 0 && *target_ + 1 < cols_;
    if ((size() < least_numbers && !part_.is_one_of_several) || has_inner_target || is_scattered())
      return false;
    const auto numbers = stream_.map_last_numbers<Number>(static_cast<std::size_t>(size()));
    if (!numbers) return false;
    require_memory<Number>(size());
    if (target_)
      data.y = Vector::NullaryExpr(
          rows_, [&](Index i) { return static_cast<double>(numbers.get()[i * cols_ + *target_]); });
    data.x = dense_view(numbers.get() + (target_ && *target_ == 0 ? 1 : 0), rows_, cols_ - (target_ ? 1 : 0),
                        cols_, numbers);
    if (part_.as_singles && sizeof(Number) > sizeof(float)) take_as_singles(numbers.get(), data.x);
    // Where there are several files, each process checks its own. One file is checked by the look at its
    // columns, which their statistics begin with.
    const bool is_doubtful =
        part_.is_one_of_several ? part_.is_own : !look_at(data.x)->is_finite() || !data.y.allFinite();
    if (is_doubtful) check_all<Number>(0, {numbers.get(), static_cast<std::size_t>(size())});
    return true;
  }

  // For a file that is mapped: the system may forget these pages, and reads them again when they are asked
  // for.
  template <typename Number>
  static void let_go(std::span<const Number> numbers) {
    const std::span<std::byte> pages = linalg::pages_inside(numbers.data(), numbers.size_bytes());
    if (!pages.empty()) madvise(pages.data(), pages.size(), MADV_DONTNEED);
  }

  // The file is let go piece by piece, as its numbers are rounded: both are never in memory together. What no
  // single holds leaves the rows as they are; whoever asked for singles says so.
  template <typename Number>
  void take_as_singles(const Number* numbers, Design& x) const {
    constexpr Index piece_numbers = Index{1} << 21;
    const Index pieces = std::min((size() + piece_numbers - 1) / piece_numbers, rows_);
    std::vector<Design> rounded(static_cast<std::size_t>(pieces));
    try {
      linalg::run_tasks(pieces, size(), [&](Index piece) {
        const Index begin = rows_ * piece / pieces;
        const Index count = rows_ * (piece + 1) / pieces - begin;
        rounded[static_cast<std::size_t>(piece)] = with_singles(x.row_range(begin, count));
        let_go(std::span(numbers + begin * cols_, static_cast<std::size_t>(count * cols_)));
      });
      x = stack_rows(rounded);
    } catch (const InputError&) {
    }
  }

  // Row by row the numbers come as they are kept, so the buffer grows only as far as the file reaches,
  // whatever its header claims. Column by column they are scattered over rows that must be there first.
  void read_numbers() {
    constexpr Index chunk_numbers = Index{1} << 15;
    if (is_scattered()) require_memory(size());
    double* const scattered = is_scattered() ? values_.append(size()) : nullptr;
    std::vector<double> chunk(is_scattered() ? chunk_numbers : 0);
    for (Index first = 0; first < size(); first += chunk_numbers) {
      const Index count = std::min(chunk_numbers, size() - first);
      if (!is_scattered()) require_memory(first + count);
      double* const numbers = is_scattered() ? chunk.data() : values_.append(count);
      read_chunk(first, {numbers, static_cast<std::size_t>(count)});
      if (is_scattered()) {
        auto [row, col] = place(first);
        for (Index i = 0; i < count; ++i) {
          scattered[row * cols_ + col] = numbers[i];
          if (++row < rows_) continue;
          row = 0;
          ++col;
        }
      }
    }
    if (!stream_.peek(1).empty()) {
      throw InputError(fmt::format("{}: the file goes on behind the {} bytes of its {} x {} numbers", name(),
                                   size() * layout_.bytes, rows_, cols_));
    }
  }

  template <typename Number = double>
  void require_memory(Index numbers) const {
    const std::uint64_t bytes = sizeof(Number) * static_cast<std::uint64_t>(numbers);
    if (!stream_.limit().allows(bytes))
      throw stream_.limit().refusal(fmt::format("{}: its table of {} x {} numbers", name(), rows_, cols_),
                                    bytes);
  }

  void read_chunk(Index first, std::span<double> numbers) {
    bytes_.resize(is_as_kept<double>() ? 0 : numbers.size() * layout_.bytes);
    const std::span<char> raw = is_as_kept<double>()
                                    ? std::span(reinterpret_cast<char*>(numbers.data()), numbers.size_bytes())
                                    : std::span(bytes_);
    const std::size_t found = stream_.read(raw);
    if (found < raw.size()) {
      throw InputError(
          fmt::format("{}: the file is truncated: expected {} bytes for its {} x {} numbers but found {}",
                      name(), size() * layout_.bytes, rows_, cols_, first * layout_.bytes + found));
    }
    if (!is_as_kept<double>()) find_decoder(layout_.kind, layout_.bytes)(raw, is_swapped(), numbers.data());
    check_all<double>(first, numbers);
  }

  // The first of these numbers is the one at `first` of the file.
  template <typename Number>
  void check_all(Index first, std::span<const Number> numbers) const {
    if (all_finite(numbers)) return;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!std::isfinite(numbers[i])) check(numbers[i], first + static_cast<Index>(i));
    }
  }

  // The bits of their exponents tell, and many of these are compared at a time.
  template <typename Number>
  static bool all_finite(std::span<const Number> numbers) {
    using Bits = std::conditional_t<sizeof(Number) == sizeof(double), std::uint64_t, std::uint32_t>;
    constexpr Bits kExponent = std::bit_cast<Bits>(std::numeric_limits<Number>::infinity());
    Bits found = 0;
    for (const Number number : numbers)
      found |= static_cast<Bits>((std::bit_cast<Bits>(number) & kExponent) == kExponent);
    return found == 0;
  }

  struct Place {
    Index row, col;
  };
  // Where the number at `position` of the file belongs.
  Place place(Index position) const {
    if (layout_.by_column) return {position % rows_, position / rows_};
    return {position / cols_, position % cols_};
  }

  void check(double number, Index position) const {
    const auto [row, col] = place(position);
    const std::string_view rule = broken_rule(number, col == target_, missing_);
    if (rule.empty()) return;
    throw InputError(fmt::format("{}: row {}, column {} (counted from 0) is {}: {}", name(), row, col,
                                 std::isnan(number) ? "NaN" : "infinite", rule));
  }

  // Closes the gaps that the column of the target leaves.
  Vector take_target() {
    Vector y(rows_);
    const double* row = values_.data();
    double* out = values_.data();
    for (Index i = 0; i < rows_; ++i, row += cols_) {
      y[i] = row[*target_];
      out = std::copy(row, row + *target_, out);
      out = std::copy(row + *target_ + 1, row + cols_, out);
    }
    --cols_;
    return y;
  }

  ByteStream& stream_;
  const ArrayLayout& layout_;
  Missing missing_;
  ArrayPart part_;
  Index rows_ = 0;
  Index cols_ = 0;
  std::optional<Index> target_;
  NumberBuffer values_;
  std::vector<char> bytes_;
};

// The header of an NPY file: a Python dictionary with the keys 'descr', 'fortran_order' and 'shape'.

constexpr std::string_view npy_magic = "\x93NUMPY";

class NpyHeader {
 public:
  NpyHeader(const std::string& source, std::string_view text) : source_(source), rest_(text) {}

  ArrayLayout parse() {
    ArrayLayout layout;
    expect('{');
    int keys = 0;
    for (; !accept('}'); ++keys) {
      const std::string_view key = parse_string();
      expect(':');
      if (key == "descr") {
        parse_type(layout);
      } else if (key == "fortran_order") {
        layout.by_column = parse_boolean();
      } else if (key == "shape") {
        parse_shape(layout);
      } else {
        throw malformed();
      }
      accept(',');
    }
    if (keys != 3) throw malformed();
    if (layout.shape.empty())
      throw InputError(fmt::format("{}: holds a single number, not a table", source_));
    return layout;
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }

  bool accept(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) throw malformed();
  }

  std::string_view parse_string() {
    expect('\'');
    const std::size_t length = rest_.find('\'');
    if (length == std::string_view::npos) throw malformed();
    const std::string_view text = rest_.substr(0, length);
    rest_.remove_prefix(length + 1);
    return text;
  }

  bool parse_boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    throw malformed();
  }

  void parse_type(ArrayLayout& layout) {
    if (accept('[')) throw InputError(fmt::format("{}: holds records of named fields, not numbers", source_));
    const std::string_view type = parse_string();  // such as <f8
    std::size_t bytes = 0;
    if (type.size() >= 3) std::from_chars(type.data() + 2, type.data() + type.size(), bytes);
    if (bytes == 0 || !is_readable(type[1], bytes)) {
      throw InputError(
          fmt::format("{}: its dtype {} cannot be read: must be f4, f8, i1 to i8, u1 to u8 or bool; "
                      "encode text categories as numbers first",
                      source_, in_quotes(type)));
    }
    layout.kind = type[1];
    layout.bytes = bytes;
    layout.big_endian = type[0] == '>';
  }

  void parse_shape(ArrayLayout& layout) {
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::uint64_t size = 0;
      const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc{}) throw malformed();
      rest_.remove_prefix(stop - rest_.data());
      layout.shape.push_back(size);
      accept(',');
    }
  }

  InputError malformed() const {
    return InputError(fmt::format("{}: the file is corrupt: its NPY header cannot be understood at {}",
                                  source_, in_quotes(rest_)));
  }

  const std::string& source_;
  std::string_view rest_;
};

}  // namespace

bool is_readable(char kind, std::size_t bytes) { return find_decoder(kind, bytes) != nullptr; }

Dataset read_array(ByteStream& stream, const ArrayLayout& layout, const ReadOptions& options,
                   const ArrayPart& part) {
  return ArrayReader(stream, layout, options, part).read();
}

bool is_npy(ByteStream& stream) { return stream.peek(npy_magic.size()) == npy_magic; }

Dataset read_npy(ByteStream& stream, const ReadOptions& options, const ArrayPart& part) {
  if (!is_npy(stream)) {
    throw InputError(fmt::format("{}: not an NPY file: it does not start with \\x93NUMPY", stream.name()));
  }
  const auto truncated = [&] {
    return InputError(fmt::format("{}: the file is truncated: it ends within its NPY header", stream.name()));
  };
  // Behind the magic: the version (major, minor) and the length of the header, in 2 bytes up to version 1.
  const std::string_view prefix = stream.peek(12);
  if (prefix.size() < 12) throw truncated();
  const int version = static_cast<unsigned char>(prefix[6]);
  if (version < 1 || version > 3) {
    throw InputError(
        fmt::format("{}: NPY version {} cannot be read: must be 1, 2 or 3", stream.name(), version));
  }
  const std::size_t length_size = version == 1 ? 2 : 4;
  const std::size_t length = little_endian(prefix.substr(8, length_size));
  constexpr std::size_t longest_header = std::size_t{1} << 20;
  if (length > longest_header) {
    throw InputError(fmt::format("{}: the file is corrupt: its NPY header claims a length of {} bytes",
                                 stream.name(), length));
  }
  stream.skip(8 + length_size);
  std::string header(length, '\0');
  if (stream.read(header) < length) throw truncated();
  return read_array(stream, NpyHeader(stream.name(), header).parse(), options, part);
}

}  // namespace yosida
