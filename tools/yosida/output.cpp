#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "yosida/error.hpp"

namespace yosida::cli {
namespace {

namespace fs = std::filesystem;

/// Devices and pipes are written as they are; they cannot be renamed over.
bool is_plain(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return !fs::exists(status) || fs::is_regular_file(status);
}

void write_to(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) throw OutputError(fmt::format("{}: {}", path, std::strerror(errno)));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) throw OutputError(fmt::format("{}: {}", path, std::strerror(errno)));
}

bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  if (a == "-" || b == "-") return a == b;
  std::error_code error;
  if (fs::equivalent(a, b, error)) return is_plain(a);
  return fs::weakly_canonical(fs::absolute(a), error) == fs::weakly_canonical(fs::absolute(b), error) &&
         is_plain(a);
}

void require_writable(const OutputFile& output) {
  const auto& [flag, path] = output;
  if (path.empty() || path == "-") return;
  std::error_code error;
  if (fs::is_directory(path, error))
    throw InputError(fmt::format("{} {}: is a directory; name a file", flag, path));
  const fs::path parent = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (!fs::is_directory(parent, error))
    throw InputError(fmt::format("{} {}: the folder {} does not exist", flag, path, parent.string()));
  const bool exists = fs::exists(path, error);
  if (::access(exists && !is_plain(path) ? path.c_str() : parent.c_str(), W_OK) != 0 ||
      (exists && ::access(path.c_str(), W_OK) != 0))
    throw InputError(fmt::format("{} {}: cannot be written ({})", flag, path, std::strerror(errno)));
}

}  // namespace

void require_writable(const std::vector<OutputFile>& outputs, const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    require_writable(outputs[i]);
    for (const std::string& input : inputs)
      if (outputs[i].path != "-" && same_file(outputs[i].path, input))
        throw InputError(
            fmt::format("{} {}: would overwrite a file that is read", outputs[i].flag, outputs[i].path));
    for (std::size_t j = 0; j < i; ++j)
      if (same_file(outputs[i].path, outputs[j].path))
        throw InputError(fmt::format("{} and {} name the same file {}: each needs its own", outputs[j].flag,
                                     outputs[i].flag, outputs[i].path));
  }
}

void write_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      throw OutputError(fmt::format("standard output: {}", std::strerror(errno)));
    return;
  }
  if (!is_plain(path)) {
    write_to(path, text);
    return;
  }
  const std::string part = path + ".part";
  std::error_code error;
  try {
    write_to(part, text);
  } catch (const OutputError&) {
    fs::remove(part, error);
    throw;
  }
  fs::rename(part, path, error);
  if (error) throw OutputError(fmt::format("{}: {}", path, error.message()));
}

}  // namespace yosida::cli
