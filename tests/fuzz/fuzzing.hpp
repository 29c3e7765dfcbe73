#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "yosida/data/reader.hpp"
#include "yosida/error.hpp"

/// What the fuzzers share. Whatever the bytes are, a reader gives a result or throws an error of ours; any
/// other exception, a fault of memory, undefined behaviour, a hang or a leak ends the fuzzer.
namespace yosida::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A file in memory with these bytes and this name, for as long as the object lives.
class ScratchFile {
 public:
  ScratchFile(const std::string& ending, std::string_view bytes) {
    folder_ = "/dev/shm/yosida-fuzz-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    path_ = folder_ / ("input" + ending);
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ::write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      std::abort();
    ::close(file);
  }
  ~ScratchFile() { std::filesystem::remove_all(folder_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path folder_, path_;
};

template <typename Action>
int allowing_our_errors(const Action& action) {
  try {
    action();
  } catch (const InputError&) {  // said in words, as a user is to see it
  } catch (const OutputError&) {
  } catch (const MemoryError&) {
  }
  return 0;
}

}  // namespace yosida::fuzz
