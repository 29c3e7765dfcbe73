#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>
#include <span>

#include "data/formats.hpp"
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
  ArrayReader(ByteStream& stream, const ArrayLayout& layout, const ReadOptions& options)
      : stream_(stream), layout_(layout), missing_(options.missing) {
    constexpr std::uint64_t most_numbers = std::uint64_t{1} << 48;  // more than any memory holds
    std::uint64_t count = 1;
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
    read_numbers();
    Dataset data;
    if (target_) data.y = take_target();
    const auto values = values_.release(rows_ * cols_);
    data.x = dense_view(values.get(), rows_, cols_, cols_, values);
    data.source = name();
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

  // Row by row the numbers come as they are kept, so the buffer grows only as far as the file reaches,
  // whatever its header claims. Column by column they are scattered over rows that must be there first.
  void read_numbers() {
    constexpr Index chunk_numbers = Index{1} << 15;
    const bool is_scattered = layout_.by_column && rows_ > 1 && cols_ > 1;
    if (is_scattered) require_memory(size());
    double* const scattered = is_scattered ? values_.append(size()) : nullptr;
    std::vector<double> chunk(is_scattered ? chunk_numbers : 0);
    for (Index first = 0; first < size(); first += chunk_numbers) {
      const Index count = std::min(chunk_numbers, size() - first);
      if (!is_scattered) require_memory(first + count);
      double* const numbers = is_scattered ? chunk.data() : values_.append(count);
      read_chunk(first, {numbers, static_cast<std::size_t>(count)});
      if (is_scattered) {
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

  void require_memory(Index numbers) const {
    const std::uint64_t bytes = sizeof(double) * static_cast<std::uint64_t>(numbers);
    if (!stream_.limit().allows(bytes))
      throw stream_.limit().refusal(fmt::format("{}: its table of {} x {} numbers", name(), rows_, cols_),
                                    bytes);
  }

  void read_chunk(Index first, std::span<double> numbers) {
    const bool is_swapped = layout_.big_endian == (std::endian::native == std::endian::little);
    const bool is_as_kept = layout_.kind == 'f' && layout_.bytes == sizeof(double) && !is_swapped;
    bytes_.resize(is_as_kept ? 0 : numbers.size() * layout_.bytes);
    const std::span<char> raw = is_as_kept
                                    ? std::span(reinterpret_cast<char*>(numbers.data()), numbers.size_bytes())
                                    : std::span(bytes_);
    const std::size_t found = stream_.read(raw);
    if (found < raw.size()) {
      throw InputError(
          fmt::format("{}: the file is truncated: expected {} bytes for its {} x {} numbers but found {}",
                      name(), size() * layout_.bytes, rows_, cols_, first * layout_.bytes + found));
    }
    if (!is_as_kept) find_decoder(layout_.kind, layout_.bytes)(raw, is_swapped, numbers.data());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!std::isfinite(numbers[i])) check(numbers[i], first + static_cast<Index>(i));
    }
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

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

// A zip archive (APPNOTE.TXT of PKWARE), as far as NumPy writes it: members stored or deflated, sizes of 32
// or 64 bits. It is read from its end, where its directory lies.

constexpr std::string_view zip_magic = "PK\3\4";

struct ZipMember {
  std::string name;
  bool is_deflated = false;
  std::uint32_t checksum = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t header_at = 0;
};

class FileRange final : public ByteSource {
 public:
  FileRange(std::FILE* file, std::uint64_t begin, std::uint64_t count)
      : file_(file), at_(begin), left_(count) {}

  std::size_t read(std::span<char> out) override {
    const std::size_t wanted = std::min<std::uint64_t>(out.size(), left_);
    if (fseeko(file_, static_cast<off_t>(at_), SEEK_SET) != 0) return 0;
    const std::size_t count = std::fread(out.data(), 1, wanted, file_);
    at_ += count;
    left_ -= count;
    return count;
  }

 private:
  std::FILE* file_;
  std::uint64_t at_;
  std::uint64_t left_;
};

// The bytes of a member, held against the size and the checksum that the directory has for it.
class CheckedMember final : public ByteSource {
 public:
  CheckedMember(std::string name, std::unique_ptr<ByteSource> bytes, const ZipMember& member)
      : name_(std::move(name)), bytes_(std::move(bytes)), member_(member) {}

  std::size_t read(std::span<char> out) override {
    const std::size_t count = bytes_->read(out);
    checksum_ = crc32_z(checksum_, reinterpret_cast<const Bytef*>(out.data()), count);
    size_ += count;
    if (count < out.size() && (size_ != member_.size || checksum_ != member_.checksum)) {
      throw InputError(
          fmt::format("{}: the file is corrupt: size or checksum of the array are wrong", name_));
    }
    return count;
  }

 private:
  std::string name_;
  std::unique_ptr<ByteSource> bytes_;
  ZipMember member_;
  std::uint64_t size_ = 0;
  uLong checksum_ = crc32_z(0, nullptr, 0);
};

class ZipArchive {
 public:
  ZipArchive(const std::filesystem::path& file, ByteStream& stream)
      : name_(stream.name()), file_(open_seekable(file, stream)), limit_(stream.shared_limit()) {
    fseeko(file_.get(), 0, SEEK_END);
    size_ = static_cast<std::uint64_t>(ftello(file_.get()));
    read_directory();
  }

  const std::vector<ZipMember>& members() const { return members_; }

  /// The bytes of a member, called `name` in messages; the archive must outlive them.
  ByteStream open(const ZipMember& member, const std::string& name) const {
    constexpr std::size_t header_size = 30;
    const std::string header = read_at(member.header_at, header_size);
    if (!header.starts_with(zip_magic)) throw corrupt();
    const std::uint64_t begin =
        member.header_at + header_size + number(header, 26, 2) + number(header, 28, 2);
    std::unique_ptr<ByteSource> bytes = std::make_unique<FileRange>(file_.get(), begin, member.packed_size);
    if (member.is_deflated) bytes = inflated(ByteStream(name, std::move(bytes), limit_), DeflateForm::raw);
    return {name, std::make_unique<CheckedMember>(name, std::move(bytes), member), limit_};
  }

 private:
  // The archive as it lies there, or a copy where it is packed or comes by a pipe.
  static FileHandle open_seekable(const std::filesystem::path& file, ByteStream& stream) {
    if (stream.is_regular_file()) return open_file(file);
    FileHandle copy(std::tmpfile());
    if (!copy)
      throw InputError(fmt::format("{}: there is no room for a temporary file to unpack to", stream.name()));
    std::vector<char> chunk(std::size_t{1} << 18);
    std::uint64_t copied = 0;
    while (const std::size_t count = stream.read(chunk)) {
      if (!stream.limit().allows_unpacked(copied += count))
        throw stream.limit().refusal(fmt::format("{}: a copy of it", stream.name()), copied);
      if (std::fwrite(chunk.data(), 1, count, copy.get()) < count) {
        throw InputError(fmt::format("{}: the temporary file to unpack to cannot be written", stream.name()));
      }
    }
    return copy;
  }

  void read_directory() {
    constexpr std::uint64_t end_size = 22;
    constexpr std::uint64_t longest_comment = 0xffff;
    const std::uint64_t tail_size = std::min(size_, end_size + longest_comment);
    const std::string tail = read_at(size_ - tail_size, tail_size);
    const std::size_t found = tail.rfind("PK\5\6");
    if (found == std::string::npos || tail.size() - found < end_size) {
      throw InputError(fmt::format(
          "{}: not a zip archive (.npz), or a truncated one: it does not end in a directory", name_));
    }
    const std::string_view end = std::string_view(tail).substr(found);
    std::uint64_t count = number(end, 10, 2);
    std::uint64_t directory_size = number(end, 12, 4);
    std::uint64_t directory_at = number(end, 16, 4);
    constexpr std::size_t locator_size = 20;  // of the directory with 64 bits, right before the other
    if (found >= locator_size && tail.compare(found - locator_size, 4, "PK\6\7") == 0) {
      const std::string wide_end = read_at(number(tail, found - locator_size + 8, 8), 56);
      if (!wide_end.starts_with("PK\6\6")) throw corrupt();
      count = number(wide_end, 32, 8);
      directory_size = number(wide_end, 40, 8);
      directory_at = number(wide_end, 48, 8);
    }
    const std::string directory = read_at(directory_at, directory_size);
    std::string_view rest = directory;
    for (std::uint64_t i = 0; i < count; ++i) members_.push_back(take_member(rest));
  }

  // Takes an entry of the directory off the front of `rest`.
  ZipMember take_member(std::string_view& rest) const {
    constexpr std::size_t fixed_size = 46;
    if (!rest.starts_with("PK\1\2") || rest.size() < fixed_size) throw corrupt();
    const std::size_t name_size = number(rest, 28, 2);
    const std::size_t extra_size = number(rest, 30, 2);
    const std::size_t entry_size = fixed_size + name_size + extra_size + number(rest, 32, 2);
    if (rest.size() < entry_size) throw corrupt();
    ZipMember member;
    member.name = rest.substr(fixed_size, name_size);
    const std::uint64_t flags = number(rest, 8, 2);
    const std::uint64_t method = number(rest, 10, 2);
    if ((flags & 1) != 0 || (method != 0 && method != 8)) {
      throw InputError(
          fmt::format("{}: {} is packed in a way that cannot be read: must be stored or deflated, "
                      "as numpy.savez and savez_compressed write it",
                      name_, in_quotes(member.name)));
    }
    member.is_deflated = method == 8;
    member.checksum = static_cast<std::uint32_t>(number(rest, 16, 4));
    member.packed_size = number(rest, 20, 4);
    member.size = number(rest, 24, 4);
    member.header_at = number(rest, 42, 4);
    read_wide_sizes(rest.substr(fixed_size + name_size, extra_size), member);
    if (member.header_at > size_ || member.packed_size > size_) throw corrupt();
    rest.remove_prefix(entry_size);
    return member;
  }

  // What does not fit 32 bits is all ones there, and follows, in this order, in an extra field of its own.
  void read_wide_sizes(std::string_view extra, ZipMember& member) const {
    constexpr std::uint64_t wide_field = 1;
    while (extra.size() >= 4) {
      const std::uint64_t id = number(extra, 0, 2);
      std::string_view field = extra.substr(4, number(extra, 2, 2));
      extra.remove_prefix(4 + field.size());
      if (id != wide_field) continue;
      for (std::uint64_t* size : {&member.size, &member.packed_size, &member.header_at}) {
        if (*size != 0xffffffff) continue;
        *size = number(field, 0, 8);
        field.remove_prefix(8);
      }
    }
  }

  std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t count) const {
    if (bytes.size() < at + count) throw corrupt();
    return little_endian(bytes.substr(at, count));
  }

  std::string read_at(std::uint64_t begin, std::uint64_t count) const {
    if (begin > size_ || count > size_ - begin) throw corrupt();
    std::string bytes(count, '\0');
    if (FileRange(file_.get(), begin, count).read(bytes) < count) throw corrupt();
    return bytes;
  }

  InputError corrupt() const {
    return InputError(fmt::format("{}: the file is corrupt: its zip directory cannot be understood", name_));
  }

  std::string name_;
  FileHandle file_;
  std::shared_ptr<MemoryLimit> limit_;
  std::uint64_t size_ = 0;
  std::vector<ZipMember> members_;
};

using Arrays = std::map<std::string, ZipMember>;

const Arrays::value_type* find_array(const Arrays& arrays, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto found = arrays.find(std::string(name));
    if (found != arrays.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

bool is_readable(char kind, std::size_t bytes) { return find_decoder(kind, bytes) != nullptr; }

Dataset read_array(ByteStream& stream, const ArrayLayout& layout, const ReadOptions& options) {
  return ArrayReader(stream, layout, options).read();
}

bool is_npy(ByteStream& stream) { return stream.peek(npy_magic.size()) == npy_magic; }

Dataset read_npy(ByteStream& stream, const ReadOptions& options) {
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
  return read_array(stream, NpyHeader(stream.name(), header).parse(), options);
}

bool is_zip(ByteStream& stream) { return stream.peek(zip_magic.size()) == zip_magic; }

Dataset read_npz(const std::filesystem::path& file, ByteStream& stream, const ReadOptions& options) {
  const ZipArchive archive(file, stream);
  Arrays arrays;
  std::vector<std::string> names;
  for (const ZipMember& member : archive.members()) {
    constexpr std::string_view ending = ".npy";
    if (!member.name.ends_with(ending)) continue;
    names.push_back(member.name.substr(0, member.name.size() - ending.size()));
    arrays.emplace(names.back(), member);
  }
  const Arrays::value_type* x = find_array(arrays, {"x", "X", "data", "features"});
  const Arrays::value_type* y = find_array(arrays, {"y", "Y", "target", "labels"});
  if (x == nullptr && arrays.size() == 1) {
    x = &*arrays.begin();
    y = nullptr;
  }
  if (x == nullptr) {
    throw InputError(
        fmt::format("{}: none of its arrays ({}) is the data: name it x, X, data or features, "
                    "and the target y, Y, target or labels",
                    file.string(), comma_separated(names)));
  }
  const auto read_one = [&](const Arrays::value_type& named, const ReadOptions& array_options) {
    const auto& [name, member] = named;
    ByteStream array = archive.open(member, fmt::format("{}: array {}", file.string(), in_quotes(name)));
    return read_npy(array, array_options);
  };
  const bool has_target = y != nullptr && options.target_file.empty();
  if (has_target && !options.target.empty() && options.target != y->first && !options.target_optional) {
    throw InputError(
        fmt::format("{}: there is no target column {}: the archive has its target as array {}, "
                    "so leave the target out",
                    file.string(), in_quotes(options.target), in_quotes(y->first)));
  }
  ReadOptions x_options = options;
  if (has_target) x_options.target.clear();
  Dataset data = read_one(*x, x_options);
  if (has_target) join_target(data, read_one(*y, target_alone(options)));
  data.source = file.string();
  return data;
}

}  // namespace yosida
