#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "commands.hpp"
#include "live_server.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "say.hpp"
#include "yosida/error.hpp"
#include "yosida/report/page.hpp"
#include "yosida/report/study_view.hpp"
#include "yosida/study/place.hpp"

namespace yosida::cli {
namespace {

struct DashboardFlags {
  std::string study;
  std::string host = "127.0.0.1";
  std::int64_t port = 8765;
  bool allow_remote = false;
};

void check(const DashboardFlags& flags) {
  if (flags.port < 0 || flags.port > 65535)
    throw InputError(fmt::format("port = {}: must be from 0 (a free one) to 65535", flags.port));
  if (!is_loopback(flags.host) && !flags.allow_remote)
    throw InputError(fmt::format(
        "host = {}: others could read the study from there: must be a loopback address such as 127.0.0.1, "
        "unless --allow-remote is given",
        flags.host));
}

/// The study as it was a moment ago, whoever asks. Looking again takes at most a tenth of a core: it must not
/// slow what it watches.
class LiveStudy {
 public:
  explicit LiveStudy(std::string path) : path_(std::move(path)), started_(study::utc_now()) { look(); }

  /// Throws what is wrong with the study.
  LiveAnswer now() {
    const std::lock_guard guard(mutex_);
    if (Clock::now() >= next_look_) {
      fault_.clear();
      try {
        look();
      } catch (const std::exception& error) {
        fault_ = error.what();
      }
    }
    if (!fault_.empty()) throw InputError(fault_);
    return {.tag = fmt::format("\"{} {}\"", started_, revision_), .json = json_};
  }

 private:
  using Clock = std::chrono::steady_clock;

  void look() {
    const Clock::time_point begin = Clock::now();
    constexpr Clock::duration kLeast = std::chrono::milliseconds(500);
    next_look_ = begin + kLeast;  // also where the following fails
    if (!view_ || study::identity_of(path_) != file_) {
      view_ = std::make_unique<report::StudyView>(path_);
      file_ = study::identity_of(path_);
    }
    if (view_->refresh() || !json_) {
      json_ = std::make_shared<const std::string>(view_->json());
      ++revision_;
    }
    const Clock::time_point end = Clock::now();
    next_look_ = end + std::max(kLeast, 9 * (end - begin));
  }

  std::mutex mutex_;
  std::string path_;
  std::string file_;
  std::unique_ptr<report::StudyView> view_;
  std::string started_;
  std::int64_t revision_ = 0;
  std::shared_ptr<const std::string> json_;
  std::string fault_;
  Clock::time_point next_look_;
};

int run_dashboard(const DashboardFlags& flags) {
  check(flags);
  LiveStudy study(flags.study);
  LiveServer server({.host = flags.host,
                     .port = static_cast<int>(flags.port),
                     .answers_any_name = flags.allow_remote,
                     .page = report::live_page_html(study::title_of(flags.study)),
                     .data = [&] { return study.now(); }});
  const Interruption interruption(
      Interruption::Answer::from_now_on);  // before anybody can know that this is up
  const bool is_version_6 = flags.host.find(':') != std::string::npos;
  if (!is_loopback(flags.host))
    say("yosida: whoever can reach this machine at port {} can read the study\n", server.port());
  fmt::print("{} as it grows: http://{}:{}/ (Ctrl-C ends this)\n", printable(study::shown_place(flags.study)),
             is_version_6 ? fmt::format("[{}]", flags.host) : flags.host, server.port());
  flush_standard_output();
  if (!server.serve_until(Interruption::was_asked)) std::_Exit(kOk);  // nothing is written that could be lost
  return kOk;
}

}  // namespace

void add_dashboard(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("dashboard", "the report of a study in a browser, live while the study runs");
  auto flags = std::make_shared<DashboardFlags>();
  command->add_option("study", flags->study, "what compare --study or reproduce --study fills")->required();
  command->add_option("--port", flags->port, "where to listen; 0 takes a free port [8765]")
      ->check(signed_number());
  command->add_option("--host", flags->host,
                      "the address to listen on [127.0.0.1, which only this machine reaches]");
  command->add_flag("--allow-remote", flags->allow_remote,
                    "let --host be an address that others reach: they can read the whole study");
  command->footer(
      "Examples:\n"
      "  yosida dashboard reproduction.study             beside a yosida reproduce that runs\n"
      "  yosida dashboard reproduction.study --port 0\n"
      "Nothing is ever written. Exit codes: 0 ended by Ctrl-C, 2 bad input.");
  command->callback([flags, &exit_code] { exit_code = run_dashboard(*flags); });
}

}  // namespace yosida::cli
