#pragma once

#include <string>

namespace yosida::cli {

/// Throws InputError where a result could not be written to `path` later: tried before a run starts.
void require_writable(const std::string& path, const char* flag);

/// Writes a whole file or nothing: to a file beside it first, then renamed over it ("-" is standard
/// output). Throws OutputError.
void write_file(const std::string& path, const std::string& text);

}  // namespace yosida::cli
