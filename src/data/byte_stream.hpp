#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace yosida {

/// Bytes that come in order and once: a file, what a compressed file unpacks to, a member of an archive.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `out` from its start and returns how many bytes came; fewer than asked for mean the end.
  /// Throws InputError where the bytes cannot be had.
  virtual std::size_t read(std::span<char> out) = 0;
};

/// A buffered byte source, read by lines or by blocks, that holds no more of it than it must.
class ByteStream {
 public:
  /// Opens `file`, to be unpacked on the way where its name ends in .gz or .xz. Throws InputError where it is
  /// missing, unreadable or empty, or where its first bytes contradict its name.
  explicit ByteStream(const std::filesystem::path& file);
  /// `name` is what messages call the bytes.
  ByteStream(std::string name, std::unique_ptr<ByteSource> source);

  const std::string& name() const { return name_; }
  /// The next `count` bytes without taking them; fewer at the end.
  std::string_view peek(std::size_t count);
  /// Takes `count` bytes that were peeked at.
  void skip(std::size_t count) { begin_ += count; }
  /// The next line without its line ending, valid until the next call; nothing at the end.
  std::optional<std::string_view> next_line();
  /// Fills `out` from its start and returns how many bytes came; fewer than asked for mean the end.
  std::size_t read(std::span<char> out);

 private:
  std::string_view window() const { return {buffer_.data() + begin_, end_ - begin_}; }
  bool extend();

  std::string name_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // bytes read and not yet taken: [begin_, end_)
  std::size_t end_ = 0;
};

/// How deflated data is wrapped: as gzip members in a row, or not at all (a member of a zip archive).
enum class DeflateForm { gzip, raw };
/// What `packed` unpacks to.
std::unique_ptr<ByteSource> inflated(ByteStream packed, DeflateForm form);

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, FileCloser>;
/// Opens a file for reading. Throws InputError where it is missing, a directory or unreadable.
FileHandle open_file(const std::filesystem::path& file);

/// The name of the file in lower case, without the .gz or .xz that ByteStream unpacks.
std::string unpacked_name(const std::filesystem::path& file);

}  // namespace yosida
