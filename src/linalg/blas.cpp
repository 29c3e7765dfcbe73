#include "linalg/blas.hpp"

#include <cblas.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <vector>

// OpenBLAS has these beside its interface. They are weak here: a build of it may hide them.
extern "C" {
[[gnu::weak]] void* blas_memory_alloc(int unused);
[[gnu::weak]] void blas_memory_free(void* buffer);
}

namespace yosida::linalg {
namespace {

/// Whether a mapping can fail long before memory is out (ulimit -v, ulimit -d).
bool is_limited(int resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// The buffers that OpenBLAS works in. A call takes the first that is free and gives it back at its end; one
/// that is not there yet is mapped, and stays. So a call finds a buffer where as many are mapped as there are
/// calls at the same time.
class Buffers {
 public:
  void enter() {
    if (!are_limited_) return;
    const std::lock_guard turn(turn_);  // so that calls which follow each other leave a gap for map()
    if (calls_ == mapped_) map_another();
    ++calls_;
    in_call_.lock_shared();
  }

  void leave() {
    if (!are_limited_) return;
    --calls_;
    in_call_.unlock_shared();
  }

 private:
  /// Waits for the calls under way: then all buffers are free, and the one behind them is taken last.
  void map_another() {
    const std::lock_guard alone(in_call_);
    std::vector<void*> taken(static_cast<std::size_t>(mapped_) + 1);
    require_room();
    if (blas_memory_alloc != nullptr && blas_memory_free != nullptr) {
      for (void*& buffer : taken) buffer = blas_memory_alloc(0);
      for (void* buffer : taken) blas_memory_free(buffer);
    }
    ++mapped_;
  }

  /// Throws where there is no room in the address space for another buffer.
  static void require_room() {
    constexpr std::size_t buffer_bytes =
        (std::size_t{128} << 20) + (std::size_t{1} << 16);  // with its margins
    void* const room =
        mmap(nullptr, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) throw std::bad_alloc();
    munmap(room, buffer_bytes);
  }

  const bool are_limited_ = is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA);
  std::mutex turn_;
  std::shared_mutex in_call_;
  std::atomic<int> calls_{0};
  int mapped_ = 0;
};

Buffers& buffers() {
  static Buffers all;
  return all;
}

}  // namespace

BlasCall::BlasCall() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
  buffers().enter();
}

BlasCall::~BlasCall() { buffers().leave(); }

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
