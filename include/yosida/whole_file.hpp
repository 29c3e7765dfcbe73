#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// Writes a whole file or nothing, piece by piece: to a file beside it first (its name with .yosida-part
/// added), which is on the disk before it gets the name. A power cut leaves the old file or the new one. The
/// side file is locked while it is written: what a killed process has left is not, and is removed by the next
/// that writes the same file. Throws OutputError. May be used by one thread at a time.
class WholeFile {
 public:
  /// A link is replaced, not followed.
  explicit WholeFile(std::filesystem::path path);
  /// Without finish(), what was at the path stays.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  /// Puts bytes behind those there are.
  void write(std::string_view bytes);
  void finish();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_, side_path_;
  std::FILE* file_;
};

/// Returns when the content of a file, or the names in a folder, are on the disk. Throws OutputError where
/// that fails; a folder that may not be read, or whose file system cannot do so, is left to the system.
void sync_to_disk(const std::filesystem::path& path);

}  // namespace yosida
