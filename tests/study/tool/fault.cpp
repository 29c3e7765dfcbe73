// Loaded into a process by LD_PRELOAD: kills it, or has its disk full, in the middle of what it does to its
// files.
//   YOSIDA_FAULT="kill write -wal 37"  at the 37th write to a file whose name ends in -wal: half of it, then
//   SIGKILL YOSIDA_FAULT="kill sync -wal 5"    SIGKILL instead of the 5th sync YOSIDA_FAULT="kill link
//   .schema1 1" SIGKILL after the first link of that name YOSIDA_FAULT="full write -wal 9"   ENOSPC from the
//   9th write on
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

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
    return kind == "kill" ? number == at : number >= at;
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

int sync_or_die(const char* name, int file) {
  if (fault().strikes("sync", name_of(file))) die();
  return real<int(int)>(name)(file);
}

}  // namespace

extern "C" {

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  static auto* const next = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  if (fault().strikes("write", name_of(file))) {
    if (fault().kind != "kill") {
      errno = ENOSPC;
      return -1;
    }
    next(file, bytes, count / 2, offset);
    die();
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
