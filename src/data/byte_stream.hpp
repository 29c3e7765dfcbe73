#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "yosida/error.hpp"

namespace yosida {

/// Bytes that come in order and once: a file, what a compressed file unpacks to, a member of an archive.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out` from its start and returns how many bytes came; fewer than asked for mean the end.
  /// Throws InputError where the bytes cannot be had.
  virtual std::size_t read(std::span<char> out) = 0;
  /// The last bytes of a file, mapped into memory, where the next ones to be read are `ahead` bytes behind
  /// the first of them; null where that is not so, where they are not aligned, and where this is no file.
  virtual std::shared_ptr<const char> map_last(std::size_t /*bytes*/, std::size_t /*alignment*/,
                                               std::size_t /*ahead*/) {
    return nullptr;
  }
  /// Where in a file as it lies there the next byte to be read is; nothing where this is no such file.
  virtual std::optional<std::uint64_t> place() const { return std::nullopt; }
  /// Goes on with the bytes [begin, end) of that file, which end it.
  virtual void go_to(std::uint64_t /*begin*/, std::uint64_t /*end*/) {}
};

/// Some bytes of a file.
struct ByteRange {
  std::uint64_t begin = 0, end = 0;
};

/// How much memory a file may make its readers take. What a file can ask for is not bounded by what it holds
/// (a column index, a shape, zeros that unpack a thousandfold), so it is bounded by its size.
class MemoryLimit {
 public:
  static constexpr std::uint64_t for_any_file = 1'000'000'000;
  static constexpr std::uint64_t for_each_byte = 256;
  /// A sparse file may take more: its columns are many, and most of them are in no row of a small
  /// sample.
  static constexpr std::uint64_t for_each_sparse_byte = 4096;

  /// `max_memory` in bytes takes the place of the rule where it is not 0.
  explicit MemoryLimit(std::uint64_t max_memory) : max_memory_(max_memory) {}

  /// The size of the file as it lies there, packed or not. For a pipe, the bytes that have come so far.
  std::uint64_t file_bytes = 0;

  bool allows(std::uint64_t bytes, std::uint64_t each = for_each_byte) const {
    return bytes <= (max_memory_ > 0 ? max_memory_ : by_rule(each));
  }
  /// Whether a packed file may unpack to so much. This takes time, not memory, so a small limit of memory
  /// does not make it less.
  bool allows_unpacked(std::uint64_t bytes) const {
    return bytes <= std::max(max_memory_, by_rule(for_each_byte));
  }
  /// What is said where it does not allow `bytes` for `what`, such as "data.csv:3: the line".
  InputError refusal(std::string_view what, std::uint64_t bytes, std::uint64_t each = for_each_byte) const;

 private:
  std::uint64_t by_rule(std::uint64_t each) const;

  std::uint64_t max_memory_;
};

/// A buffered byte source, read by lines or by blocks, that holds no more of it than it must.
class ByteStream {
 public:
  /// Opens `file` ("-" is standard input), to be unpacked on the way where its name ends in .gz or .xz, or
  /// where it is no regular file (a pipe has no name of its own) and packed. Throws InputError where it is
  /// missing, unreadable or empty, or where its first bytes contradict its name.
  explicit ByteStream(const std::filesystem::path& file, std::uint64_t max_memory = 0);
  /// `name` is what messages call the bytes.
  ByteStream(std::string name, std::unique_ptr<ByteSource> source, std::shared_ptr<MemoryLimit> limit);

  const std::string& name() const { return name_; }
  /// Whether these are the bytes of a file as they lie there, which can be opened again.
  bool is_regular_file() const { return is_regular_file_; }
  const MemoryLimit& limit() const { return *limit_; }
  /// The limit of memory, which all who read the same file share.
  const std::shared_ptr<MemoryLimit>& shared_limit() const { return limit_; }
  /// The next `count` bytes without taking them; fewer at the end.
  std::string_view peek(std::size_t count);
  /// Takes `count` bytes that were peeked at.
  void skip(std::size_t count) { begin_ += count; }
  /// Goes on with these bytes of a file as it is stored, and ends with them. It never goes back: where the
  /// range begins before the current place, it goes on from there. Throws InputError where this is no such
  /// file.
  void go_to(const ByteRange& range);
  /// The next lines without taking them: whole ones, some `bytes` of them where there are so many, and all
  /// that is left where is_at_end(). Empty at the end only. Throws InputError where one line, which a message
  /// calls `what`, is longer than the limit of memory allows.
  std::string_view peek_lines(std::size_t bytes, std::string_view what);
  /// Takes `count` bytes that were peeked at, so many lines.
  void skip_lines(std::size_t count, std::uint64_t lines);
  /// How many lines were taken.
  std::uint64_t lines_taken() const { return lines_; }
  /// Whether nothing comes behind what was peeked at.
  bool is_at_end() const { return is_at_end_; }
  /// Fills `out` from its start and returns how many bytes came; fewer than asked for mean the end.
  std::size_t read(std::span<char> out);
  /// What is left, mapped into memory instead of read, where it is `count` numbers that lie aligned in a file
  /// as they are kept; elsewhere null, and nothing is taken. It can only be read. Whoever makes the file
  /// shorter from now on ends this program by SIGBUS.
  template <typename Number = double>
  std::shared_ptr<const Number> map_last_numbers(std::size_t count) {
    const std::shared_ptr<const char> bytes = map_last(count * sizeof(Number), alignof(Number));
    return {bytes, reinterpret_cast<const Number*>(bytes.get())};
  }

 private:
  std::shared_ptr<const char> map_last(std::size_t bytes, std::size_t alignment);
  std::string_view window() const { return {buffer_.data() + begin_, end_ - begin_}; }
  /// `what` is what more bytes are needed for, in the message where they would be too many.
  bool extend(std::string_view what);

  std::string name_;
  std::unique_ptr<ByteSource> source_;
  std::shared_ptr<MemoryLimit> limit_;
  bool is_regular_file_ = false;
  bool is_at_end_ = false;
  std::uint64_t lines_ = 0;  // taken
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // bytes read and not yet taken: [begin_, end_)
  std::size_t end_ = 0;
};

/// The lines of a text one after the other, without their endings.
class TextLines {
 public:
  /// `taken` lines come before the text; messages call it `name`.
  TextLines(std::string_view text, std::string_view name, std::uint64_t taken)
      : rest_(text), name_(name), taken_(taken), has_zero_(text.find('\0') != std::string_view::npos) {}

  /// Nothing at the end. Throws InputError where it is no text.
  std::optional<std::string_view> next();
  /// What is not yet taken.
  std::string_view rest() const { return rest_; }
  /// How many lines were taken, those before the text among them.
  std::uint64_t taken() const { return taken_; }

 private:
  std::string_view rest_;
  std::string_view name_;
  std::uint64_t taken_;
  bool has_zero_;
};

/// The number that these bytes are, the least of them first.
inline std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// What `text` in UTF-16 is in UTF-8. Throws InputError, as it is read, where it is not.
std::unique_ptr<ByteSource> from_utf16(ByteStream text, bool big_endian);
/// What `text` in Windows-1252, which is ISO 8859-1 with more letters, is in UTF-8.
std::unique_ptr<ByteSource> from_windows_1252(ByteStream text);
/// The same text with line feeds where lines end with carriage returns alone, as on old Macs.
std::unique_ptr<ByteSource> from_carriage_returns(ByteStream text);

/// How deflated data is wrapped: as gzip members in a row, or not at all (a member of a zip archive).
enum class DeflateForm { gzip, raw };
/// What `packed` unpacks to.
std::unique_ptr<ByteSource> inflated(ByteStream packed, DeflateForm form);

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, FileCloser>;
/// Opens a file for reading; "-" is standard input. Throws InputError where it is missing, a directory or
/// unreadable.
FileHandle open_file(const std::filesystem::path& file);

/// The name of the file in lower case, without the .gz or .xz that ByteStream unpacks.
std::string unpacked_name(const std::filesystem::path& file);

}  // namespace yosida
