#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "commands.hpp"
#include "output.hpp"
#include "reproduce_tables.hpp"
#include "say.hpp"
#include "study_run.hpp"
#include "suite_tables.hpp"
#include "yosida/data/catalog.hpp"
#include "yosida/error.hpp"
#include "yosida/nearest.hpp"
#include "yosida/report/study_view.hpp"
#include "yosida/study/experiments.hpp"
#include "yosida/study/place.hpp"
#include "yosida/tune/method_text.hpp"

namespace yosida::cli {
namespace {

using study::Contestant;
using study::Experiment;

struct ReproduceFlags : StudyFlags {
  std::vector<std::string> problems, suites;
  std::vector<int> tables;
  bool has_seeds = false;
  std::string data_dir;
  std::optional<std::string> x, y;
};

// ---- what is asked for ----

bool intersects(const std::vector<int>& left, const std::vector<int>& right) {
  return std::any_of(left.begin(), left.end(),
                     [&](int each) { return std::find(right.begin(), right.end(), each) != right.end(); });
}

void verify_choice(const ReproduceFlags& flags) {
  for (const std::string& name : flags.problems)
    entry_by_name(study::experiments(), name, "problem", "see: yosida reproduce --help");
  for (const std::string& name : flags.suites)
    if (std::find(study::suites().begin(), study::suites().end(), name) == study::suites().end())
      throw InputError(
          fmt::format("suite = {}: no such suite; there are {}", name, fmt::join(study::suites(), ", ")));
  for (const int table : flags.tables)
    if (table < 2 || table > 7)
      throw InputError(fmt::format("table = {}: must be from 2 to 7 (table 1 lists the data sets)", table));
  if (!flags.suites.empty() && !flags.tables.empty())
    throw InputError("--table: does not go with --suite: the tables are those of the paper");
}

/// The experiments named, or those of the suites or tables named, or all of the paper; in their own order.
std::vector<Experiment> chosen_experiments(const ReproduceFlags& flags) {
  verify_choice(flags);
  const auto names = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  std::vector<Experiment> chosen;
  for (Experiment experiment : study::experiments()) {
    const bool is_named = names(flags.problems, experiment.name);
    if (!flags.problems.empty() && !is_named) continue;
    if (!flags.suites.empty() && !names(flags.suites, experiment.suite)) continue;
    if (!experiment.suite.empty() && flags.suites.empty() && !is_named) continue;
    if (!flags.tables.empty() && !intersects(experiment.tables, flags.tables)) continue;
    if (!experiment.suite.empty() && (flags.x || flags.y))
      throw InputError(fmt::format("--{}: does not go with {}, which is as its authors define it",
                                   flags.x ? "x" : "y", experiment.name));
    // Ours stand beside every table of the paper.
    if (!flags.tables.empty())
      std::erase_if(experiment.contestants, [&](const Contestant& each) {
        return !each.tables.empty() && !intersects(each.tables, flags.tables);
      });
    if (flags.x) experiment.x = *flags.x;
    if (flags.y && !experiment.y.empty()) experiment.y = *flags.y;
    chosen.push_back(std::move(experiment));
  }
  if (chosen.empty() && !flags.suites.empty())
    throw InputError(fmt::format("none of the problems {} is of the suite {}",
                                 fmt::join(flags.problems, ", "), fmt::join(flags.suites, ", ")));
  if (chosen.empty())
    throw InputError(fmt::format("none of the problems {} is in table {} of the paper",
                                 fmt::join(flags.problems, ", "), fmt::join(flags.tables, ", ")));
  return chosen;
}

// ---- the runs ----

/// One experiment under way: its rows, and the problems of its seeds.
struct Arena {
  Arena(const Experiment& experiment_, std::shared_ptr<const Dataset> rows_, std::size_t kept)
      : experiment(experiment_), rows(std::move(rows_)) {
    for (const Contestant& each : experiment.contestants) {
      const TuneOptions options = options_of(each, experiment.bounds);
      problems.try_emplace(
          options.penalty.lambda_per,
          SeedProblems::Options{.make = [this, options](std::uint64_t seed) { return make(seed, options); },
                                .oracle = has_oracle() ? std::optional(options) : std::nullopt,
                                .kept = kept});
    }
    if (experiment.data.empty()) return;
    const CatalogEntry& entry = catalog_entry(experiment.data);
    if (entry.origin == Origin::built_in) sha256_of_file["built-in"] = entry.name;
    for (const CatalogFile& file : entry.files) sha256_of_file[file.name] = file.sha256;
  }

  /// Searched for the paper's problems, which have one λ.
  bool has_oracle() const { return experiment.suite.empty(); }
  TuneOptions options_of(const Contestant& contestant, const std::optional<Interval>& bounds) const {
    TuneOptions options;
    options.model = experiment.model;
    options.x = experiment.x;
    if (!experiment.y.empty()) options.y = experiment.y;
    options.intercept = false;
    options.penalty = experiment.penalty;
    if (!contestant.lambda_per.empty()) options.penalty.lambda_per = contestant.lambda_per;
    options.bounds = bounds;
    options.lambda0 = experiment.lambda0;
    return options;
  }

  TuneProblem make(std::uint64_t seed, const TuneOptions& options) const {
    return {draw(experiment, *rows, seed).rows, options};
  }

  const Experiment& experiment;
  std::shared_ptr<const Dataset> rows;
  std::map<std::string, std::string> sha256_of_file;
  std::map<std::string, SeedProblems> problems;  // by which weights share a λ
};

WantedRun wanted_run(Arena& arena, const Contestant& contestant, std::uint64_t seed,
                     const std::optional<Interval>& bounds) {
  const Experiment& experiment = arena.experiment;
  const Method& chosen = method(contestant.method);
  TuneOptions options = arena.options_of(contestant, bounds);
  options.method = chosen.name;
  options.settings = chosen.all_settings(contestant.settings);
  options.limits = {.gradients = contestant.gradients, .iterations = contestant.iterations};
  options.seed = seed;
  options.trace_every = contestant.trace_every;
  options.oracle = arena.has_oracle();
  options.trust.shrinkage = arena.has_oracle() ? std::nullopt : std::optional(0.0);
  static const std::map<std::string, std::string> no_names;  // the catalog's files have theirs in the spec
  SeedProblems& problems = arena.problems.at(options.penalty.lambda_per);
  return {.spec = {.build = study::this_build(),
                   .experiment = experiment.name,
                   .files = arena.sha256_of_file,
                   .partition = experiment.partition,
                   .columns = {},
                   .options = std::move(options)},
          .label = {},
          .problems = &problems,
          .file_names = &no_names,
          .data_sha256 = sha256_of_files(arena.sha256_of_file)};
}

/// The runs of an experiment, in the order in which they are to be done.
void add_runs(Arena& arena, const ReproduceFlags& flags, int jobs, std::vector<WantedRun>& wanted,
              SuiteFactors& factors) {
  const std::vector<Contestant>& contestants = arena.experiment.contestants;
  const std::int64_t seeds = flags.has_seeds ? flags.seeds : arena.experiment.seeds;
  std::map<std::uint64_t, std::optional<Interval>> bounds;
  for (std::int64_t k = 0; k < seeds && !arena.has_oracle(); ++k) {
    const std::uint64_t seed = flags.seed + static_cast<std::uint64_t>(k);
    const study::Drawn drawn = draw(arena.experiment, *arena.rows, seed);
    bounds[seed] = drawn.bounds ? drawn.bounds : arena.experiment.bounds;
    factors[arena.experiment.name][seed] = drawn.factor;
  }
  for_each_run(flags.seed, seeds, contestants.size(), jobs, [&](std::uint64_t seed, std::size_t i) {
    wanted.push_back(wanted_run(arena, contestants[i], seed, bounds[seed]));
  });
}

/// Those experiments whose data is there. Names what is missing, with how to get it.
std::vector<std::unique_ptr<Arena>> open_arenas(const std::vector<Experiment>& chosen,
                                                const ReproduceFlags& flags, std::size_t kept) {
  const std::vector<std::filesystem::path> folders = data_folders(flags.data_dir);
  const auto tell = [](const std::string& text) { say("yosida: {}\n", printable(text)); };
  // Experiments of one suite may share a data set.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Dataset>> rows_of_data;
  std::vector<std::unique_ptr<Arena>> arenas;
  for (const Experiment& experiment : chosen) {
    const auto [at, is_new] = rows_of_data.try_emplace({experiment.suite, experiment.data});
    if (is_new) try {
        at->second = std::make_shared<const Dataset>(study::rows_of(experiment, folders, tell));
      } catch (const InputError& error) {
        if (std::find(flags.problems.begin(), flags.problems.end(), experiment.name) != flags.problems.end())
          throw InputError(fmt::format("problem {}: {}", experiment.name, error.what()));
        say("yosida: {} is left out: {}\n", experiment.name, printable(error.what()));
        continue;
      }
    if (at->second == nullptr) {
      say("yosida: {} is left out, for want of the same data\n", experiment.name);
      continue;
    }
    arenas.push_back(std::make_unique<Arena>(experiment, at->second, kept));
  }
  if (arenas.empty()) throw InputError("the data of none of these problems is there");
  return arenas;
}

/// With folds no run has one model: it is trained here, on the rows of all of them.
std::optional<double> test_loss_of_refit(const std::vector<std::unique_ptr<Arena>>& arenas,
                                         const study::RunSpec& spec, const std::vector<double>& lambda) {
  const auto arena = std::find_if(arenas.begin(), arenas.end(),
                                  [&](const auto& each) { return each->experiment.name == spec.experiment; });
  if (arena == arenas.end()) return {};
  const auto problems = (*arena)->problems.find(spec.options.penalty.lambda_per);
  if (problems == (*arena)->problems.end()) return {};
  const auto data = problems->second.of(spec.options.seed);
  const TuneProblem& problem = data->problem;
  if (!problem.has_folds() || std::ssize(lambda) != problem.hyperparameters()) return {};
  const Vector at = Eigen::Map<const Vector>(lambda.data(), std::ssize(lambda));
  const Report report = problem.report(problem.refit(problem.split().train, at));
  return report.test ? (*report.test)[kLoss] : std::nullopt;
}

int run_reproduce(const ReproduceFlags& flags) {
  flags.verify();
  if (flags.x) parse_x_steps(*flags.x);
  if (flags.y) parse_y_step(*flags.y);
  const std::vector<Experiment> chosen = chosen_experiments(flags);
  const int jobs = flags.share_threads();
  if (!study::is_database(flags.study)) require_writable({{"--study", flags.study}}, {});
  const auto arenas = open_arenas(chosen, flags, static_cast<std::size_t>(jobs));

  std::vector<WantedRun> wanted;
  SuiteFactors factors;
  for (const auto& arena : arenas) add_runs(*arena, flags, jobs, wanted, factors);
  study::Store store(flags.study, study::Store::Mode::create);
  if (!flags.quiet)
    say("yosida: {} runs on {} problem{}, kept in {}; Ctrl-C loses none that has ended\n", wanted.size(),
        arenas.size(), arenas.size() == 1 ? "" : "s", printable(study::shown_place(flags.study)));
  const StudyResult result = do_runs("reproduce", flags, jobs, store, wanted);
  if (!flags.quiet) {
    report::StudyView view(flags.study,
                           flags.accepts_builds ? report::Builds::any : report::Builds::this_one);
    view.refresh();
    print_tables(view.contents(), chosen, flags.tables);
    print_suites(result.records, chosen, factors,
                 [&](const study::RunSpec& spec, const std::vector<double>& lambda) {
                   return test_loss_of_refit(arenas, spec, lambda);
                 });
    print_done(flags, result);
    fmt::print("The page with all of it: yosida report {}\n", shell_word(study::shown_place(flags.study)));
  }
  return exit_code(flags, result);
}

}  // namespace

void add_reproduce(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "reproduce", "the paper's experiments and the field's benchmarks, with their figures beside ours");
  auto flags = std::make_shared<ReproduceFlags>();
  std::string known;
  for (const Experiment& each : study::experiments()) known += (known.empty() ? "" : ", ") + each.name;
  command->add_option("--problem", flags->problems, known + " [all of the paper whose data is there]")
      ->delimiter(',');
  command
      ->add_option("--suite", flags->suites,
                   "a benchmark of the field, with its published figures: lassobench (one lambda per feature "
                   "of a lasso), bilevel (ijcnn1, covtype, data cleaning), groups (elastic net, sparse "
                   "groups of 31 lambda)")
      ->delimiter(',');
  command->add_option("--table", flags->tables, "only what these tables of the paper show, 2 to 7")
      ->delimiter(',');
  flags->study = "reproduction.study";
  flags->add_to(*command, "Options");
  command->add_option("--seed", flags->seed, "the first of them [0]")->check(whole_number());
  command->add_option("--threads", flags->threads, "threads of each run [cores / jobs]");
  command->add_option("--data-dir", flags->data_dir,
                      "where the data is looked for first; see: yosida data list");
  command->add_option("--x", flags->x, "another pretreatment of the features than the experiment's own");
  command->add_option("--y", flags->y, "another pretreatment of a target that is a number");
  command->footer(
      "Examples:\n"
      "  yosida reproduce                                     everything whose data is there\n"
      "  yosida reproduce --problem cookie --seeds 3\n"
      "  yosida reproduce --table 2,7 --study paper.study\n"
      "  yosida reproduce --suite groups --seeds 2\n"
      "  yosida reproduce --suite lassobench --problem lassobench_high_3\n"
      "  yosida report reproduction.study --out report.html   the page with tables and figures\n"
      "Ctrl-C keeps what is done; the same command goes on. Exit codes: 0 done, 2 bad input, 4 a result "
      "could not be\n"
      "written, 5 stopped before all runs were done.");
  command->callback([flags, command, &exit_code] {
    flags->has_seeds = command->count("--seeds") > 0;
    exit_code = run_reproduce(*flags);
  });
}

}  // namespace yosida::cli
