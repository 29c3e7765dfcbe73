#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/study/store.hpp"

namespace YOSIDA_EXPORT yosida {
namespace study {

/// How far a study is.
struct Progress {
  std::int64_t done = 0;  // in the store, whoever did them
  std::int64_t total = 0;
  std::int64_t done_here = 0;
  std::int64_t running = 0;  // here
  double seconds = 0.0;      // since the start
  /// Time left by the pace since the start, of other processes too; NaN before the first run here has ended.
  double seconds_left = 0.0;
};

/// How many runs at a time, who hears of them, and who stops them.
struct RunnerOptions {
  int jobs = 1;
  /// Called in the thread of the caller, after changes and about ten times a second.
  std::function<void(const Progress&)> on_progress = {};
  /// True: begin no further run. Runs under way are the business of their own function. Called in any thread,
  /// in one at a time.
  std::function<bool()> stop = {};
};

/// What has been done by whom.
struct RunnerReport {
  std::int64_t done_before = 0;
  std::int64_t done_here = 0;
  std::int64_t done_elsewhere = 0;  // by other processes meanwhile
  bool stopped = false;             // something is missing yet
};

/// Does one run, in a thread of the runner; nothing where it was stopped before its end, which is then not
/// stored. The runner fills in the spec, and when it finished where that is left empty.
using RunFunction = std::function<std::optional<Record>(const SpecText&)>;

/// Does the runs that are missing in the store, in their order, `jobs` at a time, and stores each when it
/// ends. Runs that other processes have claimed are put off and waited for; where such a process dies they
/// are done here. An exception of a run or of the store ends the study after the runs under way, and is
/// thrown again; what has finished is stored. Throws InputError where jobs < 1. A spec that is given twice is
/// one run.
RunnerReport run_study(Store& store, const std::vector<SpecText>& specs, const RunFunction& run,
                       const RunnerOptions& options);

}  // namespace study
}  // namespace yosida
