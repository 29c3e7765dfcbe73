#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "say.hpp"

namespace yosida::cli {
namespace {

// What the signal handler reads and sets.
std::atomic<bool> has_answer{false};
StopSource& interruptions() {
  static StopSource source;
  return source;
}
StopSource* asked = nullptr;
std::atomic<int> last_signal{0};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// How much of the budget is gone, by the limit that is nearest.
double share_done(const TracePoint& point, const Budget& budget) {
  const double by_iterations = static_cast<double>(point.iteration) / static_cast<double>(budget.iterations);
  const double by_work =
      static_cast<double>(point.work.paper_count()) / static_cast<double>(budget.gradients);
  return std::min(1.0, std::max({by_iterations, by_work, point.seconds / budget.seconds}));
}

/// Over what stands there. Cut where the terminal ends: a line that wraps could not be written over.
void draw_line(const std::string& text) {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  say("\r\033[K{}", is_known ? text.substr(0, size.ws_col - 1U) : text);
}

void clear_line() { say("\r\033[K"); }

/// "[####....]  50 %"
std::string bar(double share) {
  constexpr int kWidth = 24;
  const int filled = static_cast<int>(share * kWidth);
  return fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %", "", filled, "", kWidth - filled, 100.0 * share);
}

/// "42 s", "3 min 05 s", "2 h 10 min"
std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

Progress::Progress(std::string method, const Budget& budget, bool quiet)
    : method_(std::move(method)),
      budget_(budget),
      active_(!quiet && ::isatty(STDERR_FILENO) != 0),
      best_(std::numeric_limits<double>::infinity()) {}

Progress::~Progress() {
  if (active_) clear_line();
}

Observer Progress::observer() {
  return [this](const TracePoint& point) {
    if (active_) show(point);
    return Watch::go_on;
  };
}

void Progress::show(const TracePoint& point) {
  best_ = std::min(best_, point.loss.validation);
  const double time = now();
  if (time - last_shown_ < 0.1) return;
  last_shown_ = time;
  draw_line(fmt::format("{} {}  iteration {}  validation {:.6g} (best {:.6g})  {}", method_,
                        bar(share_done(point, budget_)), point.iteration, point.loss.validation, best_,
                        point.lambda.size() == 1 ? fmt::format("lambda {:.4g}", point.lambda[0])
                                                 : fmt::format("{} lambdas", point.lambda.size())));
}

StudyProgress::StudyProgress(std::string name, bool quiet)
    : name_(std::move(name)), active_(!quiet && ::isatty(STDERR_FILENO) != 0) {}

StudyProgress::~StudyProgress() {
  if (active_) clear_line();
}

void StudyProgress::show(const study::Progress& at) {
  if (!active_) return;
  const double share = at.total > 0 ? static_cast<double>(at.done) / static_cast<double>(at.total) : 1.0;
  std::string text = fmt::format("{} {}  {} of {} runs, ", name_, bar(share), at.done, at.total);
  constexpr double kBeginning = 1.0;  // seconds in which the first runs may not have begun
  text += at.running > 0 || at.done == at.total || at.seconds < kBeginning
              ? fmt::format("{} under way", at.running)
              : "waiting for another process";
  if (std::isfinite(at.seconds_left)) text += fmt::format(", {} left", duration(at.seconds_left));
  if (text == shown_) return;
  draw_line(text);
  shown_ = std::move(text);
}

bool Interruption::was_asked() { return interruptions().token().was_asked(); }

std::string Interruption::in_words() {
  return fmt::format("stopped by {}; the best so far is shown",
                     last_signal == SIGINT ? "Ctrl-C" : "a termination signal");
}

Interruption::Interruption(Answer answer) {
  asked = &interruptions();  // made before a handler needs it
  has_answer = answer == Answer::from_now_on;
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    last_signal = signal;
    asked->request_stop();
    if (!has_answer) ::raise(signal);  // its default action, which is in place again
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Interruption::~Interruption() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

Observer Interruption::observer() const {
  return [](const TracePoint&) {
    has_answer = true;
    return Watch::go_on;
  };
}

StopToken Interruption::token() const { return interruptions().token(); }

}  // namespace yosida::cli
