#include "study_run.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "commands.hpp"
#include "compare_table.hpp"
#include "output.hpp"
#include "ranks.hpp"
#include "say.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/study/place.hpp"
#include "yosida/version.hpp"

namespace yosida::cli {

namespace {

/// Says what the study has of these runs by other builds, and what becomes of it.
void say_builds(const StudyFlags& flags, const study::PlannedRuns& planned) {
  if (planned.of_others.empty() || flags.quiet) return;
  say("yosida: {} has runs of these by other builds than this one ({}): {}; they {}\n",
      printable(study::shown_place(flags.study)), study::this_build(),
      printable(study::in_words(planned.of_others)),
      flags.accepts_builds ? "are taken as they are"
                           : "stay, and are done again by this one. --accept-builds takes them as they are");
}

std::vector<study::Record> records_of(const study::Store& store, const std::vector<study::SpecText>& specs,
                                      const std::vector<WantedRun>& wanted) {
  std::unordered_map<std::string, study::Record> found;
  for (study::Record& record : store.records(false)) {
    std::string json = record.spec.json;
    found.emplace(std::move(json), std::move(record));
  }
  std::vector<study::Record> records;
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (const auto at = found.find(specs[i].json); at != found.end()) {
      records.push_back(at->second);
      if (!wanted[i].label.empty()) records.back().spec.method = wanted[i].label;
    }
  return records;
}

}  // namespace

void StudyFlags::add_to(CLI::App& command, const std::string& group) {
  command
      .add_option("--seeds", seeds, "so many seeds from --seed on; each draws its own rows and noise [10]")
      ->check(signed_number())
      ->group(group);
  command.add_option("--jobs", jobs, "runs at a time; results do not depend on it [all cores]")->group(group);
  command
      .add_option("--study", study,
                  "keep every run in this file, or at postgresql://HOST/DATABASE; what it holds already is "
                  "not run again" +
                      (study.empty() ? "" : fmt::format(" [{}]", study)))
      ->group(group);
  command
      .add_flag("--accept-builds", accepts_builds,
                "take runs of the study that another build of yosida has done; else they are done again")
      ->group(group);
  command.add_flag("--quiet", quiet, "print nothing but errors")->group(group);
}

void StudyFlags::verify() const {
  if (session() != nullptr && session()->size() > 1 && study.empty())
    throw InputError(
        "--study: several processes do the runs of a study together: name its file, or "
        "postgresql://HOST/DATABASE where they are on several machines");
  constexpr std::int64_t kMostSeeds = 1'000'000;
  if (seeds < 1 || seeds > kMostSeeds)
    throw InputError(fmt::format("seeds = {}: must be from 1 to {}", seeds, kMostSeeds));
  if (seed > std::numeric_limits<std::uint64_t>::max() - static_cast<std::uint64_t>(seeds))
    throw InputError(fmt::format("seed = {}: too large to count {} seeds from it", seed, seeds));
}

int StudyFlags::share_threads() const {
  if (jobs && (*jobs < 1 || *jobs > 256))
    throw InputError(fmt::format("jobs = {}: must be from 1 to 256", *jobs));
  const int chosen = jobs.value_or(yosida::threads());
  set_threads(threads.value_or(std::max(1, yosida::threads() / chosen)));
  return chosen;
}

void for_each_run(std::uint64_t first_seed, std::int64_t seeds, std::size_t entries, int jobs,
                  FunctionRef<void(std::uint64_t seed, std::size_t entry)> action) {
  for (std::int64_t begin = 0; begin < seeds; begin += jobs)
    for (std::size_t entry = 0; entry < entries; ++entry)
      for (std::int64_t k = begin; k < std::min(seeds, begin + jobs); ++k)
        action(first_seed + static_cast<std::uint64_t>(k), entry);
}

StudyResult do_runs(const std::string& command, const StudyFlags& flags, int jobs, study::Store& store,
                    const std::vector<WantedRun>& wanted) {
  std::unordered_map<std::string, const WantedRun*> by_json;
  std::vector<study::SpecText> specs;
  for (const WantedRun& each : wanted) {
    specs.push_back(text_of(each.spec));
    by_json[specs.back().json] = &each;
  }
  // All of the study is read before the first run, not after the last: damage is to be known now.
  StudyResult result{.report = {}, .records = {}, .planned = plan_runs(store, specs, flags.accepts_builds)};
  say_builds(flags, result.planned);
  const auto& planned = result.planned.specs;
  const bool has_work = std::any_of(planned.begin(), planned.end(),
                                    [&](const study::SpecText& spec) { return !store.has(spec.key()); });
  if (has_work && !flags.study.empty()) {
    std::vector<std::string> keys(planned.size());
    std::transform(planned.begin(), planned.end(), keys.begin(),
                   [](const study::SpecText& spec) { return spec.key(); });
    store.put(study::Session{.started = study::utc_now(),
                             .command = this_command(),
                             .program = version(),
                             .machine = study::this_machine()},
              keys);
  }
  StudyProgress progress(command, flags.quiet);
  const Interruption interruption(Interruption::Answer::from_now_on);
  const auto run = [&](const study::SpecText& spec) -> std::optional<study::Record> {
    const auto found = by_json.find(spec.json);
    if (found == by_json.end())
      throw InputError(fmt::format(
          "{}: run {} of another build has been removed meanwhile; the same command does it again",
          study::shown_place(flags.study), spec.key()));
    const WantedRun& asked = *found->second;
    TuneOptions options = asked.spec.options;
    options.oracle = false;  // it is searched once for all runs of a seed
    options.stop = interruption.token();
    auto record = study::tuned_run(options, *asked.problems, *asked.file_names,
                                   [](const std::string& warning) { say("yosida: {}\n", warning); });
    if (record) record->data_sha256 = asked.data_sha256;
    return record;
  };
  result.report = study::run_study(store, planned, run,
                                   {.jobs = jobs,
                                    .on_progress = [&](const study::Progress& at) { progress.show(at); },
                                    .stop = [] { return Interruption::was_asked(); }});
  result.records = records_of(store, planned, wanted);
  return result;
}

int exit_code(const StudyFlags& flags, const StudyResult& result) {
  if (result.report.stopped) {
    say("yosida: stopped by {} before all runs were done{}\n", Interruption::by_whom(),
        flags.study.empty() ? "" : "; the same command goes on where it stopped");
    return kStopped;
  }
  if (const std::size_t planned = result.planned.specs.size(); result.records.size() < planned) {
    say("yosida: {} runs have been removed from the study meanwhile; the same command does them again\n",
        planned - result.records.size());
    return kStopped;
  }
  const std::string failures = failures_in_words(result.records);
  if (failures.empty()) return kOk;
  say("{}", failures);
  if (!flags.study.empty())
    say("yosida: to do these again: yosida study prune {} --failed, then the same command\n",
        shell_word(study::shown_place(flags.study)));
  return kBadInput;
}

void print_done(const StudyFlags& flags, const StudyResult& result) {
  const auto runs = [](std::int64_t count) {
    return count == 1 ? std::string("1 run was") : fmt::format("{} runs were", count);
  };
  const std::string place = study::shown_place(flags.study);
  fmt::print("\n{}: {} there, {} done now", printable(place), runs(result.report.done_before),
             runs(result.report.done_here));
  if (result.report.done_elsewhere > 0) fmt::print(", {} done elsewhere", runs(result.report.done_elsewhere));
  fmt::print(". See: yosida study list {}\n", shell_word(place));
}

}  // namespace yosida::cli
