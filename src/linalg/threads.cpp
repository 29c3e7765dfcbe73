#include "yosida/linalg/threads.hpp"

#include <cblas.h>

#include <Eigen/Core>
#include <atomic>
#include <mutex>
#include <thread>

#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr int kMaxThreads = 256;
std::atomic<int> thread_count{0};

/// Eigen would share out products of small matrices among all threads of OpenMP, whatever set_threads() says:
/// these wait for each other longer than they compute, and for ever in a process that has been forked.
[[maybe_unused]] const bool eigen_computes_alone = [] {
  Eigen::setNbThreads(1);
  return true;
}();

/// What HostBlasThreads puts back, and how many of them live.
struct Host {
  std::mutex mutex;
  int guests = 0;
  int blas_threads = 1;
};
Host& host() {
  static Host only;
  return only;
}

}  // namespace

HostBlasThreads::HostBlasThreads() {
  Host& own = host();
  const std::lock_guard lock(own.mutex);
  if (own.guests++ == 0) own.blas_threads = openblas_get_num_threads();
}

HostBlasThreads::~HostBlasThreads() {
  Host& own = host();
  const std::lock_guard lock(own.mutex);
  if (--own.guests == 0 && openblas_get_num_threads() != own.blas_threads)
    openblas_set_num_threads(own.blas_threads);
}

void set_threads(int count) {
  if (count < 1 || count > kMaxThreads)
    throw InputError("threads = " + std::to_string(count) + ": must be from 1 to " +
                     std::to_string(kMaxThreads));
  thread_count = count;
}

int threads() {
  const int count = thread_count;
  return count > 0 ? count : static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace yosida
