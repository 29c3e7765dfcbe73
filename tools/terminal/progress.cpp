#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "say.hpp"
#include "terminal.hpp"
#include "yosida/number_text.hpp"

namespace yosida::cli {
namespace {

/// Batch systems send USR1 a while before the time of a job is over.
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGUSR1};

// What the signal handler reads and sets.
std::atomic<bool> has_answer{false};
StopSource& interruptions() {
  static StopSource source;
  return source;
}
StopSource* asked = nullptr;
std::atomic<int> last_signal{0};
// Processes that share rows stop at the same point, which they agree on.
std::atomic<bool> is_shared{false};
std::atomic<bool> is_wished{false};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// How much is done: of the search by what the method says of it, of the budget by the limit that is nearest.
double share_done(const TracePoint& point, const Budget& budget) {
  const double by_iterations = static_cast<double>(point.iteration) / static_cast<double>(budget.iterations);
  const double by_work =
      static_cast<double>(point.work.paper_count()) / static_cast<double>(budget.gradients);
  const double by_limits = std::max({by_iterations, by_work, point.seconds / budget.seconds});
  return std::min(1.0, std::fmax(point.share_done, by_limits));  // NaN is not the larger one
}

/// Over what stands there. A line that wraps could not be written over: parts that do not fit are left out.
void draw_line(const std::vector<std::string>& parts) {
  const std::size_t width = columns_of(STDERR_FILENO) - 1;
  std::string line;
  for (const std::string& part : parts)
    if (visible_width(line) + visible_width(part) <= width) line += part;
  const std::string text = "\r\033[K" + line;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void clear_line() { draw_line({}); }

/// "[####....]  50 %"
std::string bar(double share) {
  constexpr int kWidth = 16;
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
      active_(!quiet && is_terminal(STDERR_FILENO)),
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
  share_ = std::max(share_, share_done(point, budget_));
  draw_line({fmt::format("{} {}", method_, bar(share_)),
             fmt::format("  validation {}", number_text(best_, 5)),
             point.lambda.size() == 1 ? fmt::format("  lambda {}", number_text(point.lambda[0], 4))
                                      : fmt::format("  {} lambdas", point.lambda.size()),
             fmt::format("  iteration {}", point.iteration)});
}

StudyProgress::StudyProgress(std::string name, bool quiet)
    : name_(std::move(name)),
      active_(!quiet && is_terminal(STDERR_FILENO)),
      writes_lines_(!quiet && !active_) {}

StudyProgress::~StudyProgress() {
  if (active_) clear_line();
}

void StudyProgress::show(const study::Progress& at) {
  if (writes_lines_) return write_line(at);
  if (!active_) return;
  const double share = at.total > 0 ? static_cast<double>(at.done) / static_cast<double>(at.total) : 1.0;
  std::vector<std::string> parts = {fmt::format("{} {}", name_, bar(share)),
                                    fmt::format("  {} of {} runs", at.done, at.total)};
  if (std::isfinite(at.seconds_left)) parts.push_back(fmt::format(", {} left", duration(at.seconds_left)));
  constexpr double kBeginning = 1.0;  // seconds in which the first runs may not have begun
  parts.push_back(at.running > 0 || at.done == at.total || at.seconds < kBeginning
                      ? fmt::format(", {} under way", at.running)
                      : ", waiting for another process");
  if (parts == shown_) return;
  draw_line(parts);
  shown_ = std::move(parts);
}

/// Where nobody watches a line change, one is written now and then.
void StudyProgress::write_line(const study::Progress& at) {
  constexpr double kFirst = 5.0, kLongest = 60.0;
  if (at.seconds < next_line_ || at.done == at.total) return;
  next_line_ = at.seconds + std::clamp(at.seconds, kFirst, kLongest);
  say("yosida: {}: {} of {} runs done{}\n", name_, at.done, at.total,
      std::isfinite(at.seconds_left) ? fmt::format(", about {} left", duration(at.seconds_left)) : "");
}

bool Interruption::was_asked() { return interruptions().token().was_asked(); }

std::string Interruption::by_whom() {
  return last_signal == SIGINT ? "Ctrl-C" : last_signal == SIGUSR1 ? "signal USR1" : "a termination signal";
}

Interruption::Interruption(Answer answer) {
  asked = &interruptions();  // made before a handler needs it
  has_answer = answer == Answer::from_now_on;
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    last_signal = signal;
    is_wished = true;
    if (!is_shared) asked->request_stop();
    if (!has_answer) ::raise(signal);  // its default action, which is in place again
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

void Interruption::share(mpi::Session& session) {
  asked = &interruptions();
  is_shared = true;
  session.stop_where([] { return is_wished.load(); }, [] { asked->request_stop(); });
}

Interruption::~Interruption() {
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
}

Observer Interruption::observer() const {
  return [](const TracePoint&) {
    has_answer = true;
    return Watch::go_on;
  };
}

StopToken Interruption::token() const { return interruptions().token(); }

}  // namespace yosida::cli
