#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "yosida/utf8.hpp"
#include "yosida/whole_file.hpp"

namespace yosida::cli {

/// A file that a command is to write ("-" is standard output, empty: nothing is asked for).
struct OutputFile {
  const char* flag;
  std::string path;
};

/// Throws InputError where a result could not be written later, or would overwrite another or one
/// of `inputs`: tried before a run starts.
void require_writable(const std::vector<OutputFile>& outputs, const std::vector<std::string>& inputs);

/// A study and all that is kept beside it while it is used: no other output may be one of these, whether
/// they are there now or not.
std::vector<std::string> files_of_study(const std::string& path);

/// Writes a WholeFile piece by piece; devices and pipes are written as they are ("-" is standard output). A
/// link stays, and what it leads to is replaced. Throws OutputError.
class OutputStream {
 public:
  explicit OutputStream(std::string path);
  /// Without finish(), what was at the path stays.
  ~OutputStream();
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;
  void write(std::string_view text);
  void finish();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::optional<WholeFile> whole_;
  std::FILE* file_ = nullptr;  // where it is no WholeFile
};

/// The same for a text that is there already.
void write_file(const std::string& path, const std::string& text);

/// Throws OutputError unless all that was printed so far is out.
void flush_standard_output();

/// For a person's eyes: what would steer a terminal, or is no UTF-8, as \x1b.
using utf8::printable;
/// As a word of a command for the shell.
std::string shell_word(const std::string& text);

}  // namespace yosida::cli
