#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// Says whether a computation is to end soon: because somebody has asked for it (StopSource), or because a
/// deadline is over. Copies share the flag. Long computations ask between passes over the data and return
/// what they have; asking costs a load and, with a deadline, a look at the clock. May be asked from any
/// thread.
class StopToken {
 public:
  /// The clock that deadlines are read on.
  using Clock = std::chrono::steady_clock;

  /// Never stops.
  StopToken() = default;

  /// This token with a deadline; where it has one already, the earlier one counts.
  StopToken with_deadline(Clock::time_point deadline) const {
    StopToken token = *this;
    if (!deadline_ || deadline < *deadline_) token.deadline_ = deadline;
    return token;
  }
  bool stop_requested() const { return was_asked() || (deadline_ && Clock::now() >= *deadline_); }
  /// Whether a StopSource has asked to stop, whatever the deadline says.
  bool was_asked() const { return asked_ && asked_->load(std::memory_order_relaxed); }

 private:
  friend class StopSource;
  std::shared_ptr<const std::atomic<bool>> asked_;
  std::optional<Clock::time_point> deadline_;
};

/// Asks those who have its tokens to stop. May be called from any thread, and from a signal handler.
class StopSource {
 public:
  void request_stop() { asked_->store(true, std::memory_order_relaxed); }
  StopToken token() const {
    StopToken token;
    token.asked_ = asked_;
    return token;
  }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set no other");
  std::shared_ptr<std::atomic<bool>> asked_ = std::make_shared<std::atomic<bool>>(false);
};

/// True where there is a token, and it says so.
inline bool stop_requested(const StopToken* token) { return token != nullptr && token->stop_requested(); }

/// Thrown by a CountedProblem where a run must not go on, and by constructors that are told to stop. It
/// passes through a solver's step, so that no solver has to ask; solve() catches it and returns the last
/// iterate.
class RunEnded : public std::exception {
 public:
  /// Why it must not.
  enum class Reason { stopped, time_limit, work_limit };

  /// A run that ended for this reason.
  explicit RunEnded(Reason reason) : reason_(reason) {}
  /// A run that ended because this token says stop.
  explicit RunEnded(const StopToken& token)
      : RunEnded(token.was_asked() ? Reason::stopped : Reason::time_limit) {}
  Reason reason() const { return reason_; }
  const char* what() const noexcept override {
    return reason_ == Reason::stopped      ? "stopped by the caller"
           : reason_ == Reason::time_limit ? "the time limit is reached"
                                           : "the budget of gradients is spent";
  }

 private:
  Reason reason_;
};

}  // namespace yosida
