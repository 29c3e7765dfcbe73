#include "yosida/study/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "yosida/error.hpp"

namespace yosida::study {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLookAgain{150};
constexpr std::chrono::milliseconds kTick{100};

struct Task {
  const SpecText* spec;
  std::string key;
};

/// How one look at a run ended.
enum class Look { done_here, done_elsewhere, claimed_elsewhere, given_up };

/// One call of run_study. Workers take tasks; the caller's thread watches.
class Study {
 public:
  Study(Store& store, const std::vector<SpecText>& specs, const RunFunction& run,
        const RunnerOptions& options)
      : store_(store), run_(run), options_(options) {
    std::set<std::string> keys;
    for (const SpecText& spec : specs) {
      const std::string key = spec.key();
      if (!keys.insert(key).second) continue;
      if (store.has(key)) {
        ++report_.done_before;
      } else {
        // All runs may begin now, in their order.
        waiting_.emplace(Clock::time_point::min(), Task{&spec, key});
      }
    }
    total_ = static_cast<std::int64_t>(keys.size());
  }

  RunnerReport run() {
    {
      std::vector<std::jthread> workers;
      hire(workers);
      watch();
    }
    if (failure_) std::rethrow_exception(failure_);
    report_.stopped = done() < total_;
    return report_;
  }

 private:
  // ---- workers ----

  void hire(std::vector<std::jthread>& workers) {
    const std::lock_guard guard(mutex_);
    const auto jobs = std::min(static_cast<std::size_t>(options_.jobs), waiting_.size());
    try {
      for (; at_work_ < jobs; ++at_work_) workers.emplace_back([this] { work(); });
    } catch (...) {
      end_by(std::current_exception());
    }
  }

  void work() {
    std::optional<Task> task;
    do {
      task.reset();
      try {
        task = next();
        if (task) finish(*task, look(*task));
      } catch (...) {
        const std::lock_guard guard(mutex_);
        if (task) --running_;
        end_by(std::current_exception());
      }
    } while (task);
    const std::lock_guard guard(mutex_);
    --at_work_;
    changed_.notify_all();
  }

  /// The next run that may be looked at, waited for; nothing at the end.
  std::optional<Task> next() {
    std::unique_lock lock(mutex_);
    while (!is_over()) {
      if (waiting_.empty()) {
        // The runs under way here may yet be put off.
        if (running_ == 0) return std::nullopt;
        changed_.wait_for(lock, kLookAgain);
        continue;
      }
      const auto first = waiting_.begin();
      if (first->first > Clock::now()) {
        // A copy: another worker may take the task meanwhile, and its time with it.
        const Clock::time_point until = std::min(first->first, Clock::now() + kTick);
        changed_.wait_until(lock, until);
        continue;
      }
      const Task task = first->second;
      waiting_.erase(first);
      ++running_;
      changed_.notify_all();
      return task;
    }
    return std::nullopt;
  }

  bool is_over() {
    if (over_ || !options_.stop) return over_;
    try {
      over_ = options_.stop();
    } catch (...) {
      end_by(std::current_exception());
    }
    return over_;
  }

  Look look(const Task& task) {
    const std::unique_ptr<Claim> claim = store_.claim(task.key);
    if (!claim) return Look::claimed_elsewhere;
    // Whoever had claimed it before may have stored it since it was last asked for.
    if (store_.has(task.key)) return Look::done_elsewhere;
    std::optional<Record> record = run_(*task.spec);
    if (!record) return Look::given_up;
    record->spec = *task.spec;
    if (record->finished.empty()) record->finished = utc_now();
    store_.put(*record);
    return Look::done_here;
  }

  void finish(const Task& task, Look look) {
    const std::lock_guard guard(mutex_);
    --running_;
    if (look == Look::done_here) ++report_.done_here;
    if (look == Look::done_elsewhere) ++report_.done_elsewhere;
    if (look == Look::claimed_elsewhere) waiting_.emplace(Clock::now() + kLookAgain, task);
    changed_.notify_all();
  }

  void end_by(std::exception_ptr failure) {
    if (!failure_) failure_ = std::move(failure);
    over_ = true;
    changed_.notify_all();
  }

  // ---- the caller's thread ----

  void watch() {
    std::unique_lock lock(mutex_);
    try {
      while (at_work_ > 0) {
        tell(lock);
        changed_.wait_for(lock, kTick);
      }
      tell(lock);
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      end_by(std::current_exception());
    }
  }

  void tell(std::unique_lock<std::mutex>& lock) {
    if (!options_.on_progress) return;
    const Progress now = progress();
    lock.unlock();
    options_.on_progress(now);
    lock.lock();
  }

  std::int64_t done() const { return report_.done_before + report_.done_here + report_.done_elsewhere; }

  Progress progress() const {
    Progress now{.done = done(),
                 .total = total_,
                 .done_here = report_.done_here,
                 .running = running_,
                 .seconds = std::chrono::duration<double>(Clock::now() - start_).count(),
                 .seconds_left = std::numeric_limits<double>::quiet_NaN()};
    if (now.done == total_) {
      now.seconds_left = 0.0;
    } else if (now.done_here > 0) {
      const auto done_since = static_cast<double>(now.done - report_.done_before);
      now.seconds_left = now.seconds / done_since * static_cast<double>(total_ - now.done);
    }
    return now;
  }

  Store& store_;
  const RunFunction& run_;
  const RunnerOptions& options_;
  const Clock::time_point start_ = Clock::now();
  std::int64_t total_ = 0;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::multimap<Clock::time_point, Task> waiting_;  // by when to look at it
  std::int64_t running_ = 0;
  std::size_t at_work_ = 0;  // workers
  bool over_ = false;
  std::exception_ptr failure_;
  RunnerReport report_;
};

}  // namespace

RunnerReport run_study(Store& store, const std::vector<SpecText>& specs, const RunFunction& run,
                       const RunnerOptions& options) {
  if (options.jobs < 1) throw InputError(fmt::format("jobs = {}: must be 1 or more", options.jobs));
  return Study(store, specs, run, options).run();
}

}  // namespace yosida::study
