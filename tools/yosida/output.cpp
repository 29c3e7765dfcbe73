#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

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

/// The bytes of the UTF-8 character that the text starts with; 0 where that is none.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  return length;
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

OutputStream::OutputStream(std::string path) : path_(std::move(path)), file_(stdout) {
  if (path_ == "-") return;
  written_path_ = is_plain(path_) ? path_ + ".part" : path_;
  file_ = std::fopen(written_path_.c_str(), "wb");
  if (file_ == nullptr) throw OutputError(fmt::format("{}: {}", written_path_, std::strerror(errno)));
}

OutputStream::~OutputStream() {
  if (file_ == nullptr || file_ == stdout) return;
  std::fclose(file_);
  if (written_path_ != path_) std::remove(written_path_.c_str());
}

void OutputStream::fail() const {
  throw OutputError(
      fmt::format("{}: {}", path_ == "-" ? "standard output" : written_path_, std::strerror(errno)));
}

void OutputStream::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
}

void OutputStream::finish() {
  if (std::fflush(file_) != 0) fail();
  if (file_ == stdout) return;
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  if (!closed) fail();
  std::error_code error;
  if (written_path_ != path_) fs::rename(written_path_, path_, error);
  if (error) throw OutputError(fmt::format("{}: {}", path_, error.message()));
}

void write_file(const std::string& path, const std::string& text) {
  OutputStream stream(path);
  stream.write(text);
  stream.finish();
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted;
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return fmt::format("\"{}\"", quoted);
}

std::string printable(std::string_view text, bool keep_newlines) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text.substr(i));
    const std::string_view character = text.substr(i, std::max<std::size_t>(length, 1));
    const auto first = static_cast<unsigned char>(character[0]);
    const bool is_control = (length == 1 && (first < 0x20 || first == 0x7f)) ||
                            (first == 0xc2 && static_cast<unsigned char>(character.back()) < 0xa0);
    if (length == 0 || (is_control && !(keep_newlines && first == '\n'))) {
      for (const char c : character) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += character;
    }
    i += character.size();
  }
  return result;
}

}  // namespace yosida::cli
