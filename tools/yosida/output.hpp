#pragma once

#include <string>
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

/// Writes a whole file or nothing: to a file beside it first, then renamed over it ("-" is standard
/// output). Throws OutputError.
void write_file(const std::string& path, const std::string& text);

}  // namespace yosida::cli
