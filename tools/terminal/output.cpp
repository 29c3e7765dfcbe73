#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include "folding.hpp"
#include "yosida/error.hpp"

namespace yosida::cli {
namespace {

namespace fs = std::filesystem;

/// Where links lead, whether something is there or not: a link is written through, not replaced. Links of
/// /proc are descriptors of this process, which have no name to rename to.
fs::path destination_of(fs::path path) {
  constexpr int kMostLinks = 40;  // as the system itself has it
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i) {
    if (path.native().starts_with("/proc/")) break;
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  return path;
}

/// Devices, pipes and descriptors are written as they are; they cannot be renamed over.
bool is_plain(const fs::path& path) {
  std::error_code error;
  if (fs::is_symlink(destination_of(path), error)) return false;
  const fs::file_status status = fs::status(path, error);
  return !fs::exists(status) || fs::is_regular_file(status);
}

bool same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  if (a == "-" || b == "-") return a == b;
  std::error_code error;
  if (fs::equivalent(a, b, error)) return is_plain(a);
  const auto whole = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(destination_of(path)), error);
  };
  return whole(a) == whole(b) && is_plain(a);
}

void require_writable(const OutputFile& output) {
  const auto& [flag, path] = output;
  if (path.empty() || path == "-") return;
  std::error_code error;
  if (fs::is_directory(path, error))
    throw InputError(fmt::format("{} {}: is a directory; name a file", flag, path));
  const fs::path destination = destination_of(path);
  const fs::path parent = destination.has_parent_path() ? destination.parent_path() : fs::path(".");
  if (!fs::is_directory(parent, error))
    throw InputError(fmt::format("{} {}: the folder {} does not exist", flag, path, parent.string()));
  if (::access(is_plain(path) ? parent.c_str() : path.c_str(), W_OK) != 0 ||
      (fs::exists(path, error) && ::access(path.c_str(), W_OK) != 0))
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

std::vector<std::string> files_of_study(const std::string& path) {
  std::vector<std::string> files{path};
  // SQLite names its files, and the store its claims, by where links lead.
  for (const char* ending : {"-wal", "-shm", "-journal", "-claims"})
    files.push_back(destination_of(path).string() + ending);
  return files;
}

OutputStream::OutputStream(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    file_ = unfolded_output();
  } else if (is_plain(path_)) {
    whole_.emplace(destination_of(path_));
  } else if (file_ = std::fopen(path_.c_str(), "wb"); file_ == nullptr) {
    fail();
  }
}

OutputStream::~OutputStream() {
  if (file_ != nullptr && path_ != "-") std::fclose(file_);
}

void OutputStream::fail() const {
  throw OutputError(fmt::format("{}: {}", path_ == "-" ? "standard output" : path_, std::strerror(errno)));
}

void OutputStream::write(std::string_view text) {
  if (whole_) return whole_->write(text);
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
}

void OutputStream::finish() {
  if (whole_) return whole_->finish();
  if (std::fflush(file_) != 0) fail();
  if (path_ != "-" && std::fclose(std::exchange(file_, nullptr)) != 0) fail();
}

void write_file(const std::string& path, const std::string& text) {
  OutputStream stream(path);
  stream.write(text);
  stream.finish();
}

void flush_standard_output() {
  errno = 0;
  // The parser prints its help by std::cout.
  const bool is_out = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!is_out)
    throw OutputError(
        fmt::format("standard output: {}", errno != 0 ? std::strerror(errno) : "cannot be written"));
}

std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./+-").find(c) != std::string_view::npos;
  };
  if (std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return printable(quoted + "'");
}

}  // namespace yosida::cli
