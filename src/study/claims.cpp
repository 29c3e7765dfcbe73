#include "study/claims.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>

#include "yosida/error.hpp"

namespace yosida::study {
namespace {

constexpr std::uint64_t kPresent = 0;
/// 60 of the 256 bits of a key: two runs that meet at one place would only wait for each other.
constexpr std::size_t kDigitsOfPlace = 15;

std::uint64_t place_of(const std::string& key) {
  std::uint64_t place = 0;
  const char* end = key.data() + kDigitsOfPlace;
  if (key.size() < kDigitsOfPlace || std::from_chars(key.data(), end, place, 16).ptr != end)
    throw InputError(fmt::format("key \"{}\": must be a sha256 in hexadecimal digits", key));
  return kPresent + 1 + place;
}

}  // namespace

class Claims::Held final : public Claim {
 public:
  Held(std::shared_ptr<Claims> claims, std::string key) : claims_(std::move(claims)), key_(std::move(key)) {}
  ~Held() override { claims_->drop(key_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::shared_ptr<Claims> claims_;
  std::string key_;
};

Claims::Claims(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) enter();
}

/// The file may be removed by the one who was last while this one comes in: then it comes in again.
void Claims::enter() {
  while (true) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ >= 0 && set_lock(F_RDLCK, kPresent, true)) {
      if (is_at_path()) return;
      ::close(file_);
      continue;
    }
    const int error = errno;
    if (file_ >= 0) ::close(file_);
    throw InputError(fmt::format("{}: cannot be {}: {}", path_, file_ >= 0 ? "locked" : "made",
                                 std::generic_category().message(error)));
  }
}

bool Claims::is_at_path() const {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file_, &opened) == 0 && ::stat(path_.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// Returns false where another process has the lock; with `wait` only where the system has no such locks.
bool Claims::set_lock(int kind, std::uint64_t place, bool wait) const {
  struct flock lock {};
  lock.l_type = static_cast<short>(kind);
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(place);
  lock.l_len = 1;
  while (true) {
    if (::fcntl(file_, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) == 0) return true;
    if (errno != EINTR) return false;
  }
}

Claims::~Claims() {
  if (file_ < 0) return;
  const bool is_last = set_lock(F_WRLCK, kPresent, false);
  if (is_last && is_at_path()) ::unlink(path_.c_str());
  ::close(file_);
}

std::unique_ptr<Claim> Claims::claim(const std::string& key) {
  const std::uint64_t place = place_of(key);
  const std::lock_guard guard(mutex_);
  // The system would give the same lock to this object twice.
  if (held_.contains(key)) return nullptr;
  if (file_ >= 0 && !set_lock(F_WRLCK, place, false)) {
    if (errno == EAGAIN || errno == EACCES) return nullptr;
    throw OutputError(fmt::format("{}: cannot be locked: {}", path_, std::generic_category().message(errno)));
  }
  held_.insert(key);
  return std::make_unique<Held>(shared_from_this(), key);
}

void Claims::drop(const std::string& key) {
  const std::lock_guard guard(mutex_);
  held_.erase(key);
  if (file_ >= 0) set_lock(F_UNLCK, place_of(key), false);
}

}  // namespace yosida::study
