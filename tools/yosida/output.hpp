#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

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

/// Writes a whole file or nothing, piece by piece: to a new file beside it first, then renamed over it ("-"
/// is standard output). A link stays, and what it leads to is replaced. Throws OutputError.
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

  std::string path_;          // with links resolved, unless it is written as it is
  std::string written_path_;  // where the bytes go first
  std::FILE* file_;
};

/// The same for a text that is there already.
void write_file(const std::string& path, const std::string& text);

/// In quotes where it must be.
std::string csv_field(const std::string& text);
/// For a person's eyes: what would steer a terminal, or is no UTF-8, as \x1b.
std::string printable(std::string_view text, bool keep_newlines = false);
/// As a word of a command for the shell.
std::string shell_word(const std::string& text);

}  // namespace yosida::cli
