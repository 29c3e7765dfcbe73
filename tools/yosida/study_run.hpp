#pragma once

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "progress.hpp"
#include "yosida/study/runner.hpp"
#include "yosida/tune/seed_problems.hpp"

namespace yosida::cli {

/// As a value of a spec.
template <typename T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

/// One run of a study, of the problem of options.seed; nothing where it was interrupted. Where the rows of
/// the seed cannot be used the run has failed, and says why.
std::optional<study::Record> record_run(TuneOptions options, SeedProblems& problems,
                                        const Interruption& interruption);

/// Calls `action(seed, entry)` for all of both. As many seeds as there are jobs take turns: each job makes
/// the data of one seed while the others make theirs, and all entries of a seed follow closely, since they
/// share it.
void for_each_run(std::uint64_t first_seed, std::int64_t seeds, std::size_t entries, int jobs,
                  FunctionRef<void(std::uint64_t seed, std::size_t entry)> action);

/// Does what is missing of a study, with a progress line, until it is done or Ctrl-C is pressed. A study that
/// is kept remembers this command.
struct StudyWork {
  std::string name;   // on the progress line
  std::string study;  // the file; empty: kept nowhere
  int jobs;
  bool quiet;

  using Run = std::function<std::optional<study::Record>(const study::RunSpec&, const Interruption&)>;
  study::RunnerReport run(study::Store& store, const std::vector<study::RunSpec>& specs,
                          const Run& run) const;
  /// What went wrong, in words and as an exit code. `records` are those of the runs that were planned.
  int exit_code(const study::RunnerReport& report, const std::vector<study::Record>& records,
                std::size_t planned) const;
  /// What was done, and how to look at it.
  void print_done(const study::RunnerReport& report) const;
};

/// The jobs there are to be, at most 256, and the threads of each. Throws InputError.
int share_threads(const std::optional<int>& jobs, const std::optional<int>& threads);
/// Throws InputError unless so many seeds can be counted from the first.
void require_seeds(std::int64_t seeds, std::uint64_t first);

}  // namespace yosida::cli
