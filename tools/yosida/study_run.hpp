#pragma once

#include <map>

#include "progress.hpp"
#include "yosida/study/builds.hpp"
#include "yosida/study/runner.hpp"
#include "yosida/study/tuned_run.hpp"

namespace CLI {
class App;
}

namespace yosida::cli {

/// How the runs of a study are asked for, by every command that fills one.
struct StudyFlags {
  std::string study;
  std::uint64_t seed = 0;  // the first
  std::int64_t seeds = 10;
  std::optional<int> jobs, threads;
  bool accepts_builds = false, quiet = false;

  /// --seeds, --jobs, --study, --accept-builds and --quiet.
  void add_to(CLI::App& command, const std::string& group);
  /// Throws InputError unless so many seeds can be counted from the first.
  void verify() const;
  /// The jobs there are to be, at most 256; each gets its share of the threads. Throws InputError.
  int share_threads() const;
};

/// A run that is asked for.
struct WantedRun {
  study::RunSpec spec;
  std::string label;  // what this command calls its method; empty: as the study does
  SeedProblems* problems;
  const std::map<std::string, std::string>* file_names;
  std::string data_sha256;
};

/// Calls `action(seed, entry)` for all of both. As many seeds as there are jobs take turns: each job makes
/// the data of one seed while the others make theirs, and all entries of a seed follow closely, since they
/// share it.
void for_each_run(std::uint64_t first_seed, std::int64_t seeds, std::size_t entries, int jobs,
                  FunctionRef<void(std::uint64_t seed, std::size_t entry)> action);

/// What became of them.
struct StudyResult {
  study::RunnerReport report;
  std::vector<study::Record> records;  // of the runs that were asked for, each under its label
  study::PlannedRuns planned;
};

/// Does what is missing of a study, with a progress line, until it is done or Ctrl-C is pressed. A study that
/// is kept remembers this command. Says which runs other builds have done.
StudyResult do_runs(const std::string& command, const StudyFlags& flags, int jobs, study::Store& store,
                    const std::vector<WantedRun>& wanted);
/// What went wrong, in words and as an exit code.
int exit_code(const StudyFlags& flags, const StudyResult& result);
/// What was done, and how to look at it.
void print_done(const StudyFlags& flags, const StudyResult& result);

}  // namespace yosida::cli
