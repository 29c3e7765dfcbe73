#include "linalg/blas.hpp"

#include <cblas.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <semaphore>
#include <thread>
#include <vector>

#include "linalg/mapping_limit.hpp"

// OpenBLAS has these beside its interface. They are weak here: a build of it may hide them.
extern "C" {
[[gnu::weak]] void* blas_memory_alloc(int unused);
[[gnu::weak]] void blas_memory_free(void* buffer);
}

namespace yosida::linalg {
namespace {

constexpr std::size_t kBufferBytes = (std::size_t{128} << 20) + (std::size_t{1} << 16);  // with its margins

bool has_room_for_buffer() {
  void* const room = mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room != MAP_FAILED) munmap(room, kBufferBytes);
  return room != MAP_FAILED;
}

/// Makes OpenBLAS map its buffers now, while there is one thread and hardly anybody else can take the room
/// that was seen. A call takes the first buffer that is free, and gives it back. One is needed. More let
/// calls run at the same time, so they may take a part of what the limit leaves. Returns how many there are.
std::ptrdiff_t map_buffers(rlim_t limit) {
  if (!has_room_for_buffer()) throw std::bad_alloc();
  if (blas_memory_alloc == nullptr || blas_memory_free == nullptr) return 1;
  const std::size_t most =
      std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), 1 + limit / 4 / kBufferBytes);
  std::vector<void*> taken;
  taken.reserve(most);
  while (taken.size() < most && has_room_for_buffer()) taken.push_back(blas_memory_alloc(0));
  for (void* buffer : taken) blas_memory_free(buffer);
  if (taken.empty()) throw std::bad_alloc();
  return std::ssize(taken);
}

/// Lets in as many calls at a time as there are buffers; null where there is no limit.
std::counting_semaphore<>* gate() {
  static const rlim_t limit = mapping_limit();
  if (limit == RLIM_INFINITY) return nullptr;
  static std::counting_semaphore<> free_buffers(map_buffers(limit));
  return &free_buffers;
}

}  // namespace

BlasCall::BlasCall() {
  if (openblas_get_num_threads() != 1) openblas_set_num_threads(1);
  if (auto* const free_buffers = gate()) free_buffers->acquire();
}

BlasCall::~BlasCall() {
  if (auto* const free_buffers = gate()) free_buffers->release();
}

void multiply_transposed(const double* x, Index rows, Index cols, const double* w, Index outputs,
                         double* out) {
  const BlasCall call;
  const int k = static_cast<int>(outputs);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows), k, static_cast<int>(cols), 1.0,
              x, static_cast<int>(cols), w, static_cast<int>(cols), 0.0, out, k);
}

void add_transposed(const double* x, Index rows, Index cols, const double* r, Index outputs, double* out) {
  const BlasCall call;
  const int k = static_cast<int>(outputs);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(cols), k, static_cast<int>(rows), 1.0,
              x, static_cast<int>(cols), r, k, 1.0, out, k);
}

}  // namespace yosida::linalg
