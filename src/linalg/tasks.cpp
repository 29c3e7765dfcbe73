#include "linalg/tasks.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>

#include "linalg/mapping_limit.hpp"
#include "yosida/linalg/threads.hpp"

namespace yosida::linalg {
namespace {

/// Eigen would have threads of its own: products of matrices would then depend on their number.
[[maybe_unused]] const bool kEigenIsAlone = [] {
  Eigen::setNbThreads(1);
  return true;
}();

thread_local bool is_in_task = false;

/// Lets the other thread of a core go first.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Threads that wait for work. They stay awake briefly, because the next pass is often near, and then sleep,
/// because they would be in the way of others. A job has seats for some of them. A thread that comes after
/// the job is closed goes back to wait. So a process that has lost its threads (after fork) does its work
/// alone.
class Pool {
 public:
  bool run(int helpers, Index count, FunctionRef<void(Index)> task) {
    const std::unique_lock lock(owner_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    while (threads_ < helpers && add_thread()) ++threads_;
    task_ = &task;
    count_ = count;
    next_ = 0;
    places_.store(kSeat * static_cast<std::uint64_t>(helpers), std::memory_order_release);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    work();
    std::uint64_t inside = places_.fetch_and(kSeat - 1, std::memory_order_acq_rel) & (kSeat - 1);
    for (int i = 0; inside > 0; ++i) {
      if (i < kAwake) {
        pause();
      } else {
        places_.wait(inside, std::memory_order_acquire);
      }
      inside = places_.load(std::memory_order_acquire);
    }
    return true;
  }

 private:
  /// The upper half of places_ counts the seats that are free, the lower half the threads inside.
  static constexpr std::uint64_t kSeat = std::uint64_t{1} << 32;
  static constexpr int kAwake = 4000;  // looks, some 50 µs

  bool add_thread() {
    try {
      std::thread([this] { wait_for_work(); }).detach();
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  void wait_for_work() {
    is_in_task = true;
    for (std::uint32_t seen = 0;;) {
      for (int i = 0; i < kAwake && round_.load(std::memory_order_acquire) == seen; ++i) pause();
      round_.wait(seen, std::memory_order_acquire);
      seen = round_.load(std::memory_order_acquire);
      if (!enter()) continue;
      work();
      if ((places_.fetch_sub(1, std::memory_order_acq_rel) & (kSeat - 1)) == 1) places_.notify_all();
    }
  }

  bool enter() {
    std::uint64_t places = places_.load(std::memory_order_acquire);
    while (places >= kSeat)
      if (places_.compare_exchange_weak(places, places - kSeat + 1, std::memory_order_acq_rel)) return true;
    return false;
  }

  void work() {
    for (Index i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) (*task_)(i);
  }

  std::mutex owner_;  // of whoever has work done
  int threads_ = 0;
  const FunctionRef<void(Index)>* task_ = nullptr;
  Index count_ = 0;
  std::atomic<Index> next_ = 0;
  std::atomic<std::uint64_t> places_ = 0;
  std::atomic<std::uint32_t> round_ = 0;
};

/// Never destroyed: its threads wait in it until the process ends.
Pool& pool() {
  static Pool& only = *new Pool;
  return only;
}

}  // namespace

rlim_t mapping_limit() {
  rlimit addresses{}, data{};
  if (getrlimit(RLIMIT_AS, &addresses) != 0 || getrlimit(RLIMIT_DATA, &data) != 0) return RLIM_INFINITY;
  return std::min(addresses.rlim_cur, data.rlim_cur);
}

int team_size(Index tasks, Index operations) {
  constexpr Index kWorthwhile = Index{1} << 20;
  constexpr rlim_t kRoomForThreads = rlim_t{2} << 30;  // each has a stack, an arena and buffers of BLAS
  static const bool is_limited = mapping_limit() < kRoomForThreads;
  if (operations < kWorthwhile || is_limited || is_in_task) return 1;
  return static_cast<int>(std::min<Index>(threads(), tasks));
}

void run_by_team(int team, Index count, FunctionRef<void(Index)> task) {
  if (!is_in_task && team > 1) {
    is_in_task = true;
    const bool is_done = pool().run(team - 1, count, task);
    is_in_task = false;
    if (is_done) return;
  }
  for (Index i = 0; i < count; ++i) task(i);
}

}  // namespace yosida::linalg
