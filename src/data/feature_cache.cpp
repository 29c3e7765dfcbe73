#include "data/feature_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "data/sha256.hpp"
#include "yosida/data/reader.hpp"
#include "yosida/error.hpp"
#include "yosida/whole_file.hpp"

namespace yosida {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path) {
  throw OutputError(fmt::format("{}: {}", path.string(), std::generic_category().message(errno)));
}

/// While it lives, no other process has the lock of this folder. The system drops it with the process.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail(folder);
    while (::flock(descriptor_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      ::close(descriptor_);
      errno = error;
      fail(folder);
    }
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

void write_whole(const fs::path& path, const std::string& bytes) {
  WholeFile file(path);
  file.write(bytes);
  file.finish();
}

/// The values row by row as an array of NumPy (version 1 of its format).
template <typename Number, typename Values>
std::string npy_bytes(const Values& values, const std::string& shape) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::size_t prefix = 10, alignment = 64;
  std::string header =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': {}, }}", sizeof(Number), shape);
  header.resize((prefix + header.size()) / alignment * alignment + alignment - prefix - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  bytes += header;
  bytes.reserve(bytes.size() + static_cast<std::size_t>(values.size()) * sizeof(Number));
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j) {
      const auto number = static_cast<Number>(values(i, j));
      bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
    }
  return bytes;
}

void require_sha256(const fs::path& file, const std::string& sha256) {
  if (sha256_of_file(file.string()) != sha256)
    throw InputError(
        fmt::format("{}: its sha256 is not the one it was written with: it is damaged", file.string()));
}

}  // namespace

FeatureCache::FeatureCache(fs::path folder, std::string archive_sha256, std::string method)
    : folder_(std::move(folder)), archive_sha256_(std::move(archive_sha256)), method_(std::move(method)) {}

std::optional<Dataset> FeatureCache::read() const {
  std::error_code error;
  if (!fs::exists(key_file(), error)) return {};
  std::ifstream stream(key_file());
  const auto key = nlohmann::json::parse(stream, nullptr, false);
  const auto text = [&](const char* name) {
    const bool is_there = key.is_object() && key.contains(name) && key[name].is_string();
    return is_there ? key[name].get<std::string>() : std::string();
  };
  if (text("archive_sha256") != archive_sha256_ || text("method") != method_)
    throw InputError(fmt::format("{}: it does not tell of features of this archive made in this way",
                                 key_file().string()));
  require_sha256(x_file(), text("x_sha256"));
  require_sha256(y_file(), text("y_sha256"));
  return read_dataset(x_file(), {.target = "", .target_file = y_file()});
}

void FeatureCache::write(const Dataset& data) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw OutputError(fmt::format("{}: {}", folder_.string(), error.message()));
  const FolderLock lock(folder_);
  const std::string x =
      npy_bytes<float>(to_matrix(data.x), fmt::format("({}, {})", data.rows(), data.features()));
  const std::string y = npy_bytes<double>(data.y, fmt::format("({},)", data.rows()));
  const nlohmann::ordered_json key = {{"archive_sha256", archive_sha256_},
                                      {"method", method_},
                                      {"x_sha256", sha256_of_text(x)},
                                      {"y_sha256", sha256_of_text(y)}};
  write_whole(x_file(), x);
  write_whole(y_file(), y);
  write_whole(key_file(), key.dump(2) + "\n");
}

}  // namespace yosida
