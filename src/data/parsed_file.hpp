#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "data/byte_stream.hpp"
#include "yosida/data/dataset.hpp"
#include "yosida/data/reader.hpp"

namespace yosida {

/// What a reader made of a data file, kept in the folder ReadOptions::cache to be mapped by the next that
/// reads the same bytes in the same way. Its name is made of the data file's digest and of the options; it
/// ends with a digest of its own.
class ParsedFile {
 public:
  /// Knows a regular file in this format. Throws InputError where it cannot be read.
  ParsedFile(const std::filesystem::path& file, int format, const ReadOptions& options);

  /// Nothing where none is kept, and where memory would not allow it. Throws InputError where what is kept is
  /// damaged or of something else.
  std::optional<Dataset> read(const MemoryLimit& limit) const;
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
  Stamp stamp() const;

  std::filesystem::path file_;
  Stamp stamp_;
  std::string key_;  // all that decides what is read
  std::filesystem::path kept_;
};

}  // namespace yosida
