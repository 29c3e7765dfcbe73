#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/byte_stream.hpp"
#include "yosida/data/dataset.hpp"
#include "yosida/data/reader.hpp"

namespace yosida {

/// What a reader made of a data file, kept in the folder ReadOptions::cache to be mapped by the next that
/// reads the same bytes in the same way. Its name is made of the data file's digest and of the options; it
/// ends with a digest of its own.
class ParsedFile {
 public:
  /// Knows regular files in this format, which are read as one. Throws InputError where one cannot be read.
  ParsedFile(std::span<const std::filesystem::path> files, int format, const ReadOptions& options);
  /// The same of a part of them, which is told from others by `digest`.
  ParsedFile(std::span<const std::filesystem::path> files, const std::string& digest, int format,
             const ReadOptions& options);

  /// Whether what is kept may be damaged, or was looked at by a process of this run already. Then no row is
  /// read.
  enum class Trust { none, whole };
  /// Nothing where none is kept, and where memory would not allow it. Throws InputError where what is kept is
  /// damaged or of something else.
  std::optional<Dataset> read(const MemoryLimit& limit, Trust trust = Trust::none) const;
  /// Replaces what is there, at once: a process killed here leaves nothing that would be taken for right, and
  /// of two processes that write one wins. Does nothing where the data file has changed since the constructor
  /// read it. Throws OutputError.
  void write(const Dataset& data) const;

 private:
  /// When a file was written last, and how long it is.
  struct Stamp {
    std::filesystem::file_time_type written;
    std::uintmax_t bytes = 0;
    bool operator==(const Stamp&) const = default;
  };
  std::vector<Stamp> stamps() const;

  std::vector<std::filesystem::path> files_;
  std::vector<Stamp> stamps_;
  std::string key_;  // all that decides what is read
  std::filesystem::path kept_;
};

}  // namespace yosida
