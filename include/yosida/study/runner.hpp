#pragma once

#include <functional>
#include <string>
#include <vector>

#include "yosida/study/store.hpp"

namespace yosida::study {

/// How far a study is.
struct Progress {
  std::int64_t done = 0;  // in the store, whoever did them
  std::int64_t total = 0;
  std::int64_t done_here = 0;
  std::int64_t running = 0;  // here
  double seconds = 0.0;      // since the start
  /// Time left by the pace of this call so far; NaN before the first run has ended.
  double seconds_left = 0.0;
};

struct RunnerOptions {
  int jobs = 1;
  /// Called from one thread at a time, after every change and about ten times a second.
  std::function<void(const Progress&)> on_progress = {};
  /// True: begin no further run. Runs under way are the business of their own function.
  std::function<bool()> stop = {};
};

struct RunnerReport {
  std::int64_t done_before = 0;
  std::int64_t done_here = 0;
  std::int64_t done_elsewhere = 0;  // by other processes meanwhile
  bool stopped = false;             // something is missing yet
};

/// Does one run; nothing where it was stopped before its end, which is then not stored.
using RunFunction = std::function<std::optional<Record>(const RunSpec&)>;

/// Does the runs that are missing in the store, `jobs` at a time, and stores each when it ends. Runs that
/// other processes have claimed are waited for; where such a process dies they are done here. An exception of
/// a run or of the store ends the study after the runs under way, and is thrown again.
RunnerReport run_study(Store& store, const std::vector<RunSpec>& specs, const RunFunction& run,
                       const RunnerOptions& options);

}  // namespace yosida::study
