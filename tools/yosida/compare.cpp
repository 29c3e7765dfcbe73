#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "commands.hpp"
#include "compare_table.hpp"
#include "flags.hpp"
#include "output.hpp"
#include "say.hpp"
#include "study_run.hpp"
#include "yosida/error.hpp"
#include "yosida/tune/method_text.hpp"

namespace yosida::cli {
namespace {

using json = nlohmann::json;  // keys in order: the same spec is the same text

struct CompareFlags {
  DataFiles files;
  TuneOptions options;  // of every run; settings go to every method that has them
  std::vector<std::string> methods;
  std::int64_t seeds = 10;
  std::optional<int> jobs, threads;
  std::string study;
  std::string measure = "loss";
  std::string show = "final";
  std::int64_t trace_every = 1;
  bool quiet = false;
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

// ---- what decides a result ----

/// Everything but method, settings and seed. Paths are not in it: the files may move, their contents count.
json common_spec(const CompareFlags& flags, const StudyData& data, const Prepared& prepared) {
  const DataFiles& files = flags.files;
  const TuneOptions& options = flags.options;
  const auto& [fraction, test_fraction, folds] = options.validation;
  const auto& [lambda_per, groups_file, groups, unpenalised] = options.penalty;
  const auto& [gradients, iterations, seconds] = options.limits;
  json bounds = nullptr;
  if (options.bounds) bounds = {options.bounds->low, options.bounds->high};
  return {{"data",
           {{"files", data.files()},
            {"target", files.target},
            {"ignore", files.ignore},
            {"valid_fraction", or_null(fraction)},
            {"test_fraction", test_fraction},
            {"folds", or_null(folds)},
            {"fold_column", files.fold_column},
            {"weights", files.weights},
            {"class_weights", options.class_weights},
            {"missing", to_string(files.missing)},
            {"dense", files.dense}}},
          {"model",
           {{"name", options.model},
            {"x", options.x},
            {"y", prepared.labels ? json(nullptr) : json(to_string(prepared.y_step))},
            {"intercept", options.intercept},
            {"lambda_per", lambda_per},
            {"groups", groups},
            {"unpenalised", unpenalised}}},
          {"run",
           {{"budget_gradients", or_null(gradients)},
            {"max_iterations", or_null(iterations)},
            {"time_limit", or_null(seconds)},
            {"lambda0", or_null(options.lambda0)},
            {"bounds", bounds},
            {"trace_every", flags.trace_every},
            {"oracle", options.oracle}}}};
}

// ---- the study ----

struct Planned {
  const Entry* entry;
  study::RunSpec spec;
};

std::vector<Planned> plan(const std::vector<Entry>& entries, const CompareFlags& flags, const json& common,
                          int jobs) {
  std::vector<Planned> planned;
  for_each_run(flags.options.seed, flags.seeds, entries.size(), jobs, [&](std::uint64_t seed, std::size_t i) {
    const Entry& entry = entries[i];
    json spec = common;
    spec["method"] = entry.method->name;
    spec["settings"] = entry.settings;
    spec["seed"] = seed;
    planned.push_back({.entry = &entry,
                       .spec = {.method = entry.full_name,
                                .seed = seed,
                                .json = spec.dump(-1, ' ', false, json::error_handler_t::replace)}});
  });
  return planned;
}

/// What the store has of these runs, each under the name that it was given this time.
std::vector<study::Record> records_of(const std::vector<Planned>& planned, const study::Store& store) {
  std::unordered_map<std::string, study::Record> found;
  for (study::Record& record : store.records(false)) {
    const std::string spec = record.spec.json;
    found.emplace(spec, std::move(record));
  }
  std::vector<study::Record> records;
  for (const auto& [entry, spec] : planned)
    if (const auto at = found.find(spec.json); at != found.end()) {
      records.push_back(at->second);
      records.back().spec.method = entry->label;
    }
  return records;
}

/// Those of one run. The oracle is searched once for all runs of a seed.
TuneOptions options_of(const Entry& entry, const CompareFlags& flags, std::uint64_t seed) {
  TuneOptions options = flags.options;
  options.method = entry.method->name;
  options.settings = entry.settings;
  options.seed = seed;
  options.trace_every = flags.trace_every;
  options.oracle = false;
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
      try_start(problem, options_of(entry, flags, flags.options.seed));
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
  require_seeds(flags.seeds, flags.options.seed);
  if (flags.trace_every < 1)
    throw InputError(fmt::format("trace-every = {}: must be >= 1", flags.trace_every));
  require_measure(flags.measure);
  if (flags.show != "final" && flags.show != "best")
    throw InputError(fmt::format("show = {}: must be final or best", flags.show));
}

int run_compare(const CompareFlags& flags) {
  check(flags);
  std::vector<Entry> entries = parse_entries(flags);
  const int jobs = share_threads(flags.jobs, flags.threads);
  if (!flags.study.empty())
    require_writable({{"--study", flags.study}}, input_paths(flags.files, flags.options.penalty));

  StudyData data(flags.files, flags.options);
  std::optional<TuneOptions> oracle;
  if (flags.options.oracle) {
    oracle = flags.options;
    oracle->settings.clear();
  }
  SeedProblems problems({.make = [&](std::uint64_t seed) { return data.problem(seed); },
                         .oracle = oracle,
                         .kept = static_cast<std::size_t>(jobs)});
  const auto first = problems.of(flags.options.seed);
  const Prepared& prepared = first->problem.data();
  require_measure(flags.measure, *prepared.model, *prepared.loss);
  entries = able_to_start(entries, flags, first->problem);
  const std::vector<Planned> planned = plan(entries, flags, common_spec(flags, data, prepared), jobs);

  std::unordered_map<std::string, const Planned*> by_json;
  std::vector<study::RunSpec> specs;
  for (const Planned& each : planned) {
    by_json[each.spec.json] = &each;
    specs.push_back(each.spec);
  }
  const auto store = flags.study.empty()
                         ? std::make_unique<study::Store>()
                         : std::make_unique<study::Store>(flags.study, study::Store::Mode::create);
  const StudyWork work{.name = "compare", .study = flags.study, .jobs = jobs, .quiet = flags.quiet};
  const study::RunnerReport report =
      work.run(*store, specs, [&](const study::RunSpec& spec, const Interruption& interruption) {
        const Entry& entry = *by_json.at(spec.json)->entry;
        auto record = record_run(options_of(entry, flags, spec.seed), problems, interruption);
        if (record) record->data_sha256 = data.sha256();
        return record;
      });
  const std::vector<study::Record> records = records_of(planned, *store);
  if (!flags.quiet && !records.empty())
    print_comparison({.heading = heading(first->problem),
                      .measure = flags.measure,
                      .which = flags.show == "final" ? report::Which::final : report::Which::best},
                     records);
  if (!flags.quiet && !flags.study.empty()) work.print_done(report);
  return work.exit_code(report, records, planned.size());
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("compare", "several methods and settings on the same data, seeds and budget");
  auto flags = std::make_shared<CompareFlags>();
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
  command
      ->add_option("--seeds", flags->seeds,
                   "so many seeds from --seed on; each draws its own split and noise [10]")
      ->check(signed_number())
      ->group(group);
  command->add_option("--jobs", flags->jobs, "runs at a time; results do not depend on it [all cores]")
      ->group(group);
  command
      ->add_option("--study", flags->study,
                   "keep every run in this file; what it holds already is not run again")
      ->group(group);
  command
      ->add_option("--measure", flags->measure,
                   "what the table shows: loss, scaled_loss, r_squared, accuracy, area_under_roc [loss]")
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
      ->add_option("--trace-every", flags->trace_every,
                   "keep all of the first so many iterations, then only every so many-th [1]")
      ->check(signed_number())
      ->group(group);
  command->add_flag("--quiet", flags->quiet, "print nothing but errors")->group(group);
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
