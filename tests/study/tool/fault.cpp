// Loaded into a process by LD_PRELOAD: kills it, or has its disk full, in the middle of what it does to its
// files.
//
//   YOSIDA_FAULT="kill write -wal 37"   at the 37th write to a file whose name ends in -wal: half of it,
//   SIGKILL YOSIDA_FAULT="kill sync -wal 5"     SIGKILL instead of the 5th sync YOSIDA_FAULT="kill link
//   .schema1 1" SIGKILL after the first link of that name YOSIDA_FAULT="full write -wal 9"    ENOSPC from the
//   9th write on YOSIDA_FAULT="fail sync -wal 9"     EIO from the 9th sync on; also of write and read
//   YOSIDA_FAULT="power sync -wal 5"    at the 5th sync the power fails: of all that was written to any file
//   and not
//                                       synced since, some writes are on the disk and some are not; then
//                                       SIGKILL
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Fault {
  std::string kind, operation, ending;
  long at = 0;
  std::atomic<long> seen = 0;

  Fault() {
    if (const char* text = std::getenv("YOSIDA_FAULT"))
      std::istringstream(text) >> kind >> operation >> ending >> at;
  }
  bool strikes(const char* now, const std::string& name) {
    if (operation != now || !name.ends_with(ending)) return false;
    const long number = ++seen;
    return kind == "kill" || kind == "power" ? number == at : number >= at;
  }
};

Fault& fault() {
  static Fault only;
  return only;
}

std::string name_of(int file) {
  char name[PATH_MAX];
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), name, sizeof(name));
  return {name, size > 0 ? static_cast<std::size_t>(size) : 0};
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

// ---- power ----

/// What was there before a write that no sync has followed yet.
struct Unsynced {
  int file;
  off64_t size, offset;
  std::string before;
};
std::mutex unsynced_mutex;
std::vector<Unsynced> unsynced;  // in their order

ssize_t real_write(int file, const void* bytes, size_t count, off64_t offset) {
  static auto* const next = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return next(file, bytes, count, offset);
}

void remember(int file, size_t count, off64_t offset) {
  if (fault().kind != "power") return;
  const std::lock_guard guard(unsynced_mutex);
  // A descriptor of its own: the program may close the one it has.
  Unsynced entry{::dup(file), ::lseek64(file, 0, SEEK_END), offset, std::string(count, '\0')};
  static auto* const read = real<ssize_t(int, void*, size_t, off64_t)>("pread64");
  const ssize_t got = read(file, entry.before.data(), count, offset);
  entry.before.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  unsynced.push_back(std::move(entry));
}

void forget(const std::string& name) {
  if (fault().kind != "power") return;
  const std::lock_guard guard(unsynced_mutex);
  std::erase_if(unsynced, [&](const Unsynced& entry) {
    if (name_of(entry.file) != name) return false;
    ::close(entry.file);
    return true;
  });
}

/// A disk may write in any order: each write is undone or not. One that made a file longer leaves zeros.
[[noreturn]] void lose_power() {
  const std::lock_guard guard(unsynced_mutex);
  std::mt19937 chance(static_cast<unsigned>(::getpid()));
  for (auto entry = unsynced.rbegin(); entry != unsynced.rend(); ++entry) {
    if (chance() % 2 == 0) continue;
    std::string before = entry->before;
    const off64_t end = ::lseek64(entry->file, 0, SEEK_END);
    if (end > entry->size && entry->offset >= entry->size && chance() % 2 == 0) {
      if (::ftruncate64(entry->file, entry->size) != 0) std::abort();
      continue;
    }
    real_write(entry->file, before.data(), before.size(), entry->offset);
  }
  die();
}

int sync_or_die(const char* name, int file) {
  const std::string path = name_of(file);
  if (fault().strikes("sync", path)) {
    if (fault().kind == "power") lose_power();
    if (fault().kind == "fail") {
      errno = EIO;
      return -1;
    }
    die();
  }
  const int code = real<int(int)>(name)(file);
  if (code == 0) forget(path);
  return code;
}

}  // namespace

extern "C" {

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  remember(file, count, offset);
  if (fault().strikes("write", name_of(file))) {
    if (fault().kind == "full" || fault().kind == "fail") {
      errno = fault().kind == "full" ? ENOSPC : EIO;
      return -1;
    }
    real_write(file, bytes, count / 2, offset);
    if (fault().kind == "power") lose_power();
    die();
  }
  return real_write(file, bytes, count, offset);
}

ssize_t pread64(int file, void* bytes, size_t count, off64_t offset) {
  static auto* const next = real<ssize_t(int, void*, size_t, off64_t)>("pread64");
  if (fault().strikes("read", name_of(file))) {
    errno = EIO;
    return -1;
  }
  return next(file, bytes, count, offset);
}

int fdatasync(int file) { return sync_or_die("fdatasync", file); }
int fsync(int file) { return sync_or_die("fsync", file); }

int link(const char* from, const char* to) noexcept {
  const int code = real<int(const char*, const char*)>("link")(from, to);
  if (fault().strikes("link", to)) die();
  return code;
}
}
