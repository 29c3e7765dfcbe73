#include "yosida/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <tuple>
#include <utility>

#include "yosida/error.hpp"

namespace yosida {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) { return std::generic_category().message(error); }

/// The most processes that may write the same file at a time.
constexpr int kMostWriters = 16;

fs::path side_path(const fs::path& path, int number) {
  constexpr std::size_t kLongest = 230;  // names have up to 255 bytes
  const std::string name = path.filename().string().substr(0, kLongest);
  return path.parent_path() /
         fmt::format("{}.yosida-part{}", name, number == 1 ? "" : fmt::format("-{}", number));
}

bool is_at(int file, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino && S_ISREG(named.st_mode);
}

/// Nobody who writes to it leaves it unlocked.
void remove_if_left_over(const fs::path& side) {
  // It must not wait for the other end, should it be a pipe.
  const int file = ::open(side.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0 && is_at(file, side)) ::unlink(side.c_str());
  ::close(file);
}

/// A new file, locked; -1 where there can be none.
int make_locked(const fs::path& side) {
  const int file = ::open(side.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  // Where the file system has no locks, nobody can take this for left over.
  const bool is_lost = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!is_lost && is_at(file, side)) return file;
  // Before it was locked another process took it for left over.
  ::close(file);
  errno = EEXIST;
  return -1;
}

/// A new side file, of the permissions that a file at `path` has or would have; `side` becomes its name.
int make_side_file(const fs::path& path, fs::path& side) {
  for (int number = 1; number <= kMostWriters; ++number) remove_if_left_over(side_path(path, number));
  int file = -1;
  for (int number = 1; file < 0; ++number) {
    side = side_path(path, number);
    file = make_locked(side);
    if (file < 0 && (errno != EEXIST || number == kMostWriters)) return -1;
  }
  struct stat replaced {};
  // No error where the file system has no permissions to set.
  if (::stat(path.c_str(), &replaced) == 0) std::ignore = ::fchmod(file, replaced.st_mode & 0777);
  return file;
}

}  // namespace

WholeFile::WholeFile(fs::path path) : path_(std::move(path)), file_(nullptr) {
  const int side = make_side_file(path_, side_path_);
  if (side >= 0) file_ = ::fdopen(side, "wb");
  if (file_ == nullptr) fail();
}

WholeFile::~WholeFile() {
  if (file_ == nullptr) return;
  ::unlink(side_path_.c_str());
  std::fclose(file_);
}

void WholeFile::fail() const { throw OutputError(fmt::format("{}: {}", side_path_.string(), reason(errno))); }

void WholeFile::write(std::string_view bytes) {
  if (bytes.empty()) return;  // fwrite takes no null pointer, though it would not read from it
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void WholeFile::finish() {
  if (std::fflush(file_) != 0 || ::fsync(::fileno(file_)) != 0 ||
      ::rename(side_path_.c_str(), path_.c_str()) != 0)
    fail();
  // Its bytes are on the disk: closing has nothing left to say.
  std::fclose(std::exchange(file_, nullptr));
  sync_to_disk(path_.has_parent_path() ? path_.parent_path() : fs::path("."));
}

void sync_to_disk(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == EACCES) return;
  const bool is_synced = file >= 0 && ::fsync(file) == 0;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!is_synced && error != EINVAL) throw OutputError(fmt::format("{}: {}", path.string(), reason(error)));
}

}  // namespace yosida
