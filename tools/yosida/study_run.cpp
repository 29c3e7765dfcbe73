#include "study_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "compare_table.hpp"
#include "output.hpp"
#include "say.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/tune/tuned_json.hpp"
#include "yosida/version.hpp"

namespace yosida::cli {

using json = nlohmann::json;

std::optional<study::Record> record_run(TuneOptions options, SeedProblems& problems,
                                        const Interruption& interruption) {
  study::Record record;
  record.program = version();
  try {
    const auto data = problems.of(options.seed);
    options.observers = {interruption.observer()};
    Tuned tuned = run_method(data->problem, options);
    if (tuned.outcome.status == StopReason::stopped) return {};
    for (const std::string& warning : tuned.warnings) say("yosida: {}\n", warning);
    std::optional<OracleGap> final;
    if (data->oracle) {
      const Solution &best = tuned.outcome.best, &last = tuned.outcome.final;
      tuned.add_oracle(data->problem.gap(*data->oracle, best));
      // Often the same λ, and then the same weights: an exact solve is spared.
      final = last.lambda == best.lambda && last.iteration == best.iteration
                  ? tuned.oracle
                  : data->problem.gap(*data->oracle, last);
    }
    record.status = to_string(tuned.outcome.status);
    record.outcome = outcome_json(tuned, final);
    record.seconds = tuned.outcome.seconds;
    record.trace = std::move(tuned.outcome.trace);
  } catch (const DataChanged&) {
    throw;
  } catch (const InputError& error) {  // of this seed's rows alone: the others go on
    record.status = "failed";
    record.outcome = json{{"error", error.what()}}.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  return record;
}

void for_each_run(std::uint64_t first_seed, std::int64_t seeds, std::size_t entries, int jobs,
                  FunctionRef<void(std::uint64_t seed, std::size_t entry)> action) {
  for (std::int64_t begin = 0; begin < seeds; begin += jobs)
    for (std::size_t entry = 0; entry < entries; ++entry)
      for (std::int64_t k = begin; k < std::min(seeds, begin + jobs); ++k)
        action(first_seed + static_cast<std::uint64_t>(k), entry);
}

study::RunnerReport StudyWork::run(study::Store& store, const std::vector<study::RunSpec>& specs,
                                   const Run& run) const {
  store.records(false);  // damage is to be known before the first run, not after the last
  const bool has_work = std::any_of(specs.begin(), specs.end(),
                                    [&](const study::RunSpec& spec) { return !store.has(spec.key()); });
  if (has_work && !study.empty())
    store.put(study::Session{.started = study::utc_now(),
                             .command = this_command(),
                             .program = version(),
                             .machine = study::this_machine()});
  StudyProgress progress(name, quiet);
  const Interruption interruption;
  return study::run_study(store, specs, [&](const study::RunSpec& spec) { return run(spec, interruption); },
                          {.jobs = jobs,
                           .on_progress = [&](const study::Progress& at) { progress.show(at); },
                           .stop = [] { return Interruption::was_asked(); }});
}

int StudyWork::exit_code(const study::RunnerReport& report, const std::vector<study::Record>& records,
                         std::size_t planned) const {
  if (report.stopped) {
    say("yosida: stopped before all runs were done{}\n",
        study.empty() ? "" : "; the same command goes on where it stopped");
    return kStopped;
  }
  if (records.size() < planned) {
    say("yosida: {} runs have been removed from the study meanwhile; the same command does them again\n",
        planned - records.size());
    return kStopped;
  }
  const std::string failures = failures_in_words(records);
  if (failures.empty()) return kOk;
  say("{}", failures);
  if (!study.empty())
    say("yosida: to do these again: yosida study prune {} --failed, then the same command\n",
        shell_word(study));
  return kBadInput;
}

void StudyWork::print_done(const study::RunnerReport& report) const {
  const auto runs = [](std::int64_t count) {
    return count == 1 ? std::string("1 run was") : fmt::format("{} runs were", count);
  };
  fmt::print("\n{}: {} there, {} done now", printable(study), runs(report.done_before),
             runs(report.done_here));
  if (report.done_elsewhere > 0) fmt::print(", {} done elsewhere", runs(report.done_elsewhere));
  fmt::print(". See: yosida study list {}\n", shell_word(study));
}

int share_threads(const std::optional<int>& jobs, const std::optional<int>& threads_each) {
  if (jobs && (*jobs < 1 || *jobs > 256))
    throw InputError(fmt::format("jobs = {}: must be from 1 to 256", *jobs));
  const int chosen = jobs.value_or(threads());
  set_threads(threads_each.value_or(std::max(1, threads() / chosen)));
  return chosen;
}

void require_seeds(std::int64_t seeds, std::uint64_t first) {
  constexpr std::int64_t kMostSeeds = 1'000'000;
  if (seeds < 1 || seeds > kMostSeeds)
    throw InputError(fmt::format("seeds = {}: must be from 1 to {}", seeds, kMostSeeds));
  if (first > std::numeric_limits<std::uint64_t>::max() - static_cast<std::uint64_t>(seeds))
    throw InputError(fmt::format("seed = {}: too large to count {} seeds from it", first, seeds));
}

}  // namespace yosida::cli
