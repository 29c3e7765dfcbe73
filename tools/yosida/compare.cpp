#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "compare_table.hpp"
#include "flags.hpp"
#include "output.hpp"
#include "say.hpp"
#include "study_run.hpp"
#include "yosida/error.hpp"
#include "yosida/study/place.hpp"
#include "yosida/tune/method_text.hpp"

namespace yosida::cli {
namespace {

struct CompareFlags : StudyFlags {
  DataFiles files;
  TuneOptions options;  // of every run; settings go to every method that has them
  std::vector<std::string> methods;
  std::string measure{kLoss};
  std::string show = "final";
};

/// A method with its settings.
struct Entry {
  const Method* method;
  SettingValues settings;  // all of them
  std::string label;       // as it was written: "sho:alpha=.05"
  std::string full_name;   // with every setting that is not the default's: "sho:alpha=0.05"
};

/// With the settings that were given for all, unless the entry has its own.
Entry parse_entry(const std::string& text, const SettingValues& for_all) {
  auto [chosen, given] = parse_method(text);
  for (const auto& [name, value] : for_all)
    if (has_setting(*chosen, name)) given.emplace(name, value);
  const SettingValues all = chosen->all_settings(given);
  return {.method = chosen, .settings = all, .label = text, .full_name = name_with_settings(*chosen, all)};
}

std::vector<Entry> parse_entries(const CompareFlags& flags) {
  std::vector<Entry> entries;
  for (const std::string& given : flags.methods) {
    const std::string text = CLI::detail::trim_copy(given);
    std::vector<std::string> names = {text};
    if (text == "all") {
      names.clear();
      for (const Method& each : methods()) names.push_back(each.name);
    }
    for (const std::string& name : names) {
      const Entry next = parse_entry(name, flags.options.settings);
      const bool is_double = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.full_name == next.full_name;
      });
      if (!is_double) entries.push_back(next);
    }
  }
  for (const auto& [name, value] : flags.options.settings)
    if (std::none_of(entries.begin(), entries.end(),
                     [&name = name](const Entry& entry) { return has_setting(*entry.method, name); }))
      throw InputError(fmt::format("{} = {}: none of the methods has this setting", name, value));
  return entries;
}

/// Those of one run.
TuneOptions options_of(const Entry& entry, const CompareFlags& flags, std::uint64_t seed) {
  TuneOptions options = flags.options;
  options.method = entry.method->name;
  options.settings = entry.settings;
  options.seed = seed;
  return options;
}

/// Leaves out, with a word, what `all` has named and cannot begin on this data; refuses what was named
/// itself.
std::vector<Entry> able_to_start(const std::vector<Entry>& entries, const CompareFlags& flags,
                                 const TuneProblem& problem) {
  std::vector<Entry> able;
  for (const Entry& entry : entries) {
    const bool was_named =
        std::any_of(flags.methods.begin(), flags.methods.end(),
                    [&](const std::string& text) { return CLI::detail::trim_copy(text) == entry.label; });
    constexpr Index kFew = 64;
    if (!was_named && entry.method->grows_with_lambdas && problem.hyperparameters() > kFew) {
      say("yosida: left out: {}: its work grows with the number of lambdas, here {}; name it to run it\n",
          entry.label, problem.hyperparameters());
      continue;
    }
    try {
      TuneOptions options = options_of(entry, flags, flags.options.seed);
      options.oracle = false;
      try_start(problem, options);
      able.push_back(entry);
    } catch (const InputError& error) {
      if (was_named && std::string_view(error.what()).starts_with(entry.method->name)) throw;
      if (was_named) throw InputError(fmt::format("{}: {}", entry.label, error.what()));
      say("yosida: left out: {}: {}\n", entry.label, error.what());
    }
  }
  if (able.empty()) throw InputError("methods: none of them can begin on this data");
  return able;
}

void check(const CompareFlags& flags) {
  flags.verify();
  if (flags.options.trace_every < 1)
    throw InputError(fmt::format("trace-every = {}: must be >= 1", flags.options.trace_every));
  require_measure(flags.measure);
  if (flags.show != "final" && flags.show != "best")
    throw InputError(fmt::format("show = {}: must be final or best", flags.show));
}

int run_compare(CompareFlags flags) {
  flags.seed = flags.options.seed;
  check(flags);
  std::vector<Entry> entries = parse_entries(flags);
  const int jobs = flags.share_threads();
  if (!study::is_database(flags.study))
    require_writable({{"--study", flags.study}}, input_paths(flags.files, flags.options.penalty));

  flags.files = with_catalog(std::move(flags.files));
  StudyData data(flags.files, flags.options);
  std::optional<TuneOptions> oracle;
  if (flags.options.oracle) {
    oracle = flags.options;
    oracle->settings.clear();
  }
  SeedProblems problems({.make = [&](std::uint64_t seed) { return data.problem(seed); },
                         .oracle = oracle,
                         .kept = static_cast<std::size_t>(jobs)});
  const auto first = problems.of(flags.seed);
  const Prepared& prepared = first->problem.data();
  require_measure(flags.measure, *prepared.loss, prepared.model->name);
  flags.options.model = prepared.model->name;
  for (const std::string& note : prepared.notes)
    if (!flags.quiet) say("yosida: {}\n", printable(note));
  entries = able_to_start(entries, flags, first->problem);

  std::vector<WantedRun> wanted;
  for_each_run(flags.seed, flags.seeds, entries.size(), jobs, [&](std::uint64_t seed, std::size_t i) {
    study::RunSpec spec;
    spec.build = study::this_build();
    spec.files = data.files();
    spec.columns = flags.files;
    spec.options = options_of(entries[i], flags, seed);
    spec.options.y.reset();
    if (!prepared.labels) spec.options.y = to_string(prepared.y_step);
    wanted.push_back({.spec = std::move(spec),
                      .label = entries[i].label,
                      .problems = &problems,
                      .file_names = &data.file_names(),
                      .data_sha256 = data.sha256()});
  });
  const auto store = flags.study.empty()
                         ? std::make_unique<study::Store>()
                         : std::make_unique<study::Store>(flags.study, study::Store::Mode::create);
  const StudyResult result = do_runs("compare", flags, jobs, *store, wanted);
  if (!flags.quiet && !result.records.empty())
    print_comparison(
        {.heading = heading(first->problem), .measure = flags.measure, .is_final = flags.show == "final"},
        result.records);
  if (!flags.quiet && !flags.study.empty()) print_done(flags, result);
  return exit_code(flags, result);
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("compare", "several methods and settings on the same data, seeds and budget");
  auto flags = std::make_shared<CompareFlags>();
  flags->options.trace_every = 1;
  add_data_flags(*command, flags->files, flags->options);
  add_fold_flags(*command, flags->files, flags->options);
  add_penalty_flags(*command, flags->options.penalty);
  const std::string group = "Comparison";
  command
      ->add_option("--methods", flags->methods,
                   "a list NAME,NAME:SETTING=VALUE,... or all; see: yosida methods")
      ->required()
      ->delimiter(',')
      ->group(group);
  flags->add_to(*command, group);
  command
      ->add_option("--measure", flags->measure,
                   fmt::format("what the table shows: {} [{}]", measure_names(), kLoss))
      ->group(group);
  command
      ->add_option("--show", flags->show,
                   "the weights that are shown: final (as the paper does) or best (by validation) [final]")
      ->group(group);
  command
      ->add_flag("--oracle", flags->options.oracle,
                 "also compute the best lambda of each seed, and how far every method is from it")
      ->group(group);
  command
      ->add_flag("--trust", flags->options.trust.report,
                 "also look around the lambda of each run: the report draws standard errors and intervals")
      ->group(group);
  command
      ->add_option("--trace-every", flags->options.trace_every,
                   "keep the first N iterations, then only every N-th [1]")
      ->check(signed_number())
      ->group(group);
  add_run_flags(*command, flags->options, flags->threads);
  add_setting_flags(*command, flags->options.settings);
  command->footer(
      "Examples:\n"
      "  yosida compare --data spectra --methods my-hpo,hoag,random,tpe --seeds 5 --oracle\n"
      "  yosida compare --data spectra --methods sho:alpha=0.05,sho:alpha=0.005,my-hpo-bt --budget-gradients "
      "5000\n"
      "  yosida compare --train train.csv --target price --methods all --study prices.study --jobs 2\n"
      "  yosida compare --data spectra --methods grid,random,tpe,gp-ei --budget-gradients 25000 "
      "--train-steps 2500 "
      "--train-step-size 0.001\n"
      "A setting given as a flag goes to every method that has it. Ctrl-C keeps what is done in --study.\n"
      "Exit codes: 0 done, 2 bad input, 4 a result could not be written, 5 stopped before all runs were "
      "done.");
  command->callback([flags, &exit_code] { exit_code = run_compare(*flags); });
}

}  // namespace yosida::cli
