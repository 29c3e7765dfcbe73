#include "yosida/linalg/threads.hpp"

#include <atomic>
#include <thread>

#include "yosida/error.hpp"

namespace yosida {
namespace {

constexpr int kMaxThreads = 256;
std::atomic<int> thread_count{0};

}  // namespace

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
