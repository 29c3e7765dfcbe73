// Loaded into a process by LD_PRELOAD: the N-th call of one kind fails, and only that one.
//   YOSIDA_NTH="malloc 37"   also of calloc, realloc, aligned_alloc and posix_memalign: no memory
//   YOSIDA_NTH="write 5"     ENOSPC; also of pwrite64, writev, fwrite; not to standard output and error
//   YOSIDA_NTH="sync 2"      EIO of fsync and fdatasync
//   YOSIDA_NTH="read 9"      EIO; also of pread64 and fread
// At its end the process writes to the file that YOSIDA_NTH_COUNT names how many such calls there were.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

// Nothing here may allocate: malloc itself asks.
std::atomic<long> seen{0};
std::atomic<bool> is_ready{false};
char kind[16];
long at = 0;

__attribute__((constructor)) void begin() {
  if (const char* text = std::getenv("YOSIDA_NTH")) std::sscanf(text, "%15s %ld", kind, &at);
  is_ready = true;
}

bool strikes(const char* now) {
  return is_ready.load(std::memory_order_relaxed) && std::strcmp(kind, now) == 0 && ++seen == at;
}

__attribute__((destructor)) void end() {
  is_ready = false;
  const char* name = std::getenv("YOSIDA_NTH_COUNT");
  if (name == nullptr) return;
  const int file = ::open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  ::dprintf(file, "%ld", seen.load());
  ::close(file);
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool fails(const char* now, int error) {
  if (!strikes(now)) return false;
  errno = error;
  return true;
}

}  // namespace

extern "C" {

void* malloc(size_t size) { return fails("malloc", ENOMEM) ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  if (fails("malloc", ENOMEM)) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result != nullptr ? 0 : ENOMEM;
}

ssize_t write(int file, const void* bytes, size_t count) {
  static auto* const next = real<ssize_t(int, const void*, size_t)>("write");
  return file > STDERR_FILENO && fails("write", ENOSPC) ? -1 : next(file, bytes, count);
}
ssize_t writev(int file, const struct iovec* pieces, int count) {
  static auto* const next = real<ssize_t(int, const struct iovec*, int)>("writev");
  return file > STDERR_FILENO && fails("write", ENOSPC) ? -1 : next(file, pieces, count);
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  static auto* const next = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return fails("write", ENOSPC) ? -1 : next(file, bytes, count, offset);
}
size_t fwrite(const void* bytes, size_t size, size_t count, FILE* file) {
  static auto* const next = real<size_t(const void*, size_t, size_t, FILE*)>("fwrite");
  return file != stdout && file != stderr && fails("write", ENOSPC) ? 0 : next(bytes, size, count, file);
}
int fsync(int file) {
  static auto* const next = real<int(int)>("fsync");
  return fails("sync", EIO) ? -1 : next(file);
}
int fdatasync(int file) {
  static auto* const next = real<int(int)>("fdatasync");
  return fails("sync", EIO) ? -1 : next(file);
}
ssize_t read(int file, void* bytes, size_t count) {
  static auto* const next = real<ssize_t(int, void*, size_t)>("read");
  return fails("read", EIO) ? -1 : next(file, bytes, count);
}
size_t fread(void* bytes, size_t size, size_t count, FILE* file) {
  static auto* const next = real<size_t(void*, size_t, size_t, FILE*)>("fread");
  if (!fails("read", EIO)) return next(bytes, size, count, file);
  file->_flags |= 0x20;  // what ferror() of the C library looks at
  return 0;
}
size_t __fread_chk(void* bytes, size_t room, size_t size, size_t count, FILE* file) {
  static auto* const next = real<size_t(void*, size_t, size_t, size_t, FILE*)>("__fread_chk");
  if (!fails("read", EIO)) return next(bytes, room, size, count, file);
  file->_flags |= 0x20;
  return 0;
}
ssize_t pread64(int file, void* bytes, size_t count, off64_t offset) {
  static auto* const next = real<ssize_t(int, void*, size_t, off64_t)>("pread64");
  return fails("read", EIO) ? -1 : next(file, bytes, count, offset);
}
}
