#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "commands.hpp"
#include "flags.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "ranks.hpp"
#include "say.hpp"
#include "tune_report.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/model/models.hpp"
#include "yosida/study/run_outcome.hpp"
#include "yosida/tune/checkpoint.hpp"
#include "yosida/tune/split_csv.hpp"
#include "yosida/tune/trace_csv.hpp"

namespace yosida::cli {
namespace {

/// Writes each file that has a name, also where another could not be written; then throws the first error.
void write_all(const std::vector<std::pair<std::string, std::function<std::string()>>>& files) {
  std::string problems;
  for (const auto& [path, text] : files) {
    if (path.empty()) continue;
    try {
      const std::string whole = text();  // all processes make it, the first writes it
      if (is_first_rank()) write_file(path, whole);
    } catch (const std::exception& error) {
      problems += (problems.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  if (!problems.empty()) throw OutputError(problems);
}

/// The run alone is watched: while it lasts, Ctrl-C asks for its best iterate; before and after it ends the
/// process.
Tuned run_watched(const TuneProblem& problem, TuneOptions options, const TuneFlags& flags) {
  Progress progress(options.method, budget_of(options), flags.quiet);
  const Interruption interruption(Interruption::Answer::with_first_iterate);
  // In this order: whoever sees an iterate can have it by Ctrl-C.
  options.observers = {interruption.observer(), progress.observer()};
  options.stop = interruption.token();
  Tuned tuned = run_method(problem, options, flags.checkpoint_file);
  if (Interruption::was_asked() && tuned.outcome.status == StopReason::stopped)
    tuned.outcome.message = fmt::format("stopped by {}; the best so far is shown", Interruption::by_whom());
  return tuned;
}

/// On standard output, or on standard error where a file goes to the other; then it must not cost the file
/// that it cannot be printed.
void print_for_people(const TuneOptions& options, const TuneProblem& problem, const Tuned& tuned,
                      const std::vector<std::size_t>& measures, bool file_on_stdout) try {
  print_result(file_on_stdout ? stderr : stdout, options, problem, tuned, measures);
} catch (const std::exception& error) {
  if (!file_on_stdout) throw;
  say("yosida: printing the result could not be done: {}\n", error.what());
}

/// Processes that share rows keep what they have read of a text where the others can map it.
Rows read_rows_together(DataFiles files, const TuneOptions& options) {
  if (session() == nullptr || session()->size() == 1) return read_rows(files, options);
  for (const std::string& path : input_paths(files, options.penalty))
    if (path == "-")
      throw InputError("-: rows from standard input go to one process alone: give several a file");
  files.cache = files.built_in.empty();
  return read_rows(files, options);
}

/// What several targets do not go with, beside what tune_targets refuses.
void refuse_for_targets(const TuneFlags& flags) {
  for (const auto& [flag, is_asked] :
       std::vector<std::pair<const char*, bool>>{{"--trace", !flags.trace_file.empty()},
                                                 {"--save-split", !flags.split_file.empty()},
                                                 {"--checkpoint", !flags.checkpoint_file.empty()},
                                                 {"--explain", flags.explain},
                                                 {"mpirun", session() != nullptr && session()->size() > 1}})
    if (is_asked)
      throw InputError(
          fmt::format("{}: does not go with several targets: tune such a target by itself", flag));
}

int run_targets(const TuneFlags& flags) {
  TuneOptions options = flags.options;
  refuse_for_targets(flags);
  const std::vector<OutputFile> outputs = {{"--json", flags.json_file}, {"--save", flags.save_file}};
  require_writable(outputs, input_paths(flags.files, options.penalty));
  if (flags.threads) set_threads(*flags.threads);
  const std::vector<std::size_t> measures = parse_measures(flags.measures, *model("ridge").loss(0), "ridge");
  RowsOfTargets all = read_rows_of_targets(flags.files, options);
  const std::string source = all.rows.train.source;
  const TunedTargets tuned = tune_targets(std::move(all.rows), std::move(all.targets), options);
  for (const std::string& warning : tuned.warnings) say("yosida: {}\n", warning);
  const bool file_on_stdout = flags.json_file == "-" || flags.save_file == "-";
  if (!flags.quiet) print_targets(file_on_stdout ? stderr : stdout, source, tuned, measures);
  write_all({{flags.json_file, [&] { return study::result_json(options, tuned); }},
             {flags.save_file, [&] { return to_json(tuned.model); }}});
  return kOk;
}

int run_tune(const TuneFlags& flags) {
  if (flags.files.has_several_targets()) return run_targets(flags);
  TuneOptions options = flags.options;
  verify_run(options);
  if (flags.trace_every < 1)
    throw InputError(fmt::format("trace-every = {}: must be >= 1", flags.trace_every));
  options.keep_rows = !flags.split_file.empty();
  options.trace_every = flags.trace_file.empty() ? 0 : flags.trace_every;
  const std::vector<OutputFile> outputs = {{"--json", flags.json_file},
                                           {"--trace", flags.trace_file},
                                           {"--save", flags.save_file},
                                           {"--save-split", flags.split_file}};
  if (is_first_rank()) require_writable(outputs, input_paths(flags.files, options.penalty));
  if (flags.threads) set_threads(*flags.threads);

  Rows rows = read_rows_together(flags.files, options);
  const bool needs_again = flags.explain || options.trust.nested || options.trust.chooses_shrinkage;
  const std::optional<Rows> again = needs_again ? std::optional(rows) : std::nullopt;
  if (again) options = with_chosen_shrinkage(*again, options);
  TuneProblem problem(std::move(rows), options);
  const std::vector<std::size_t> measures =
      parse_measures(flags.measures, *problem.data().loss, problem.data().model->name);
  Tuned tuned = run_watched(problem, options, flags);
  if (!options.oracle) problem.forget_forms();
  // After folds no more is left to do than training a model on all rows: whoever has stopped the run waits
  // for that only where it is to be saved.
  if (problem.always_refits() && tuned.outcome.status == StopReason::stopped && flags.save_file.empty())
    tuned.outcome.message += "; no model was trained on all rows, which --save asks for";
  else
    complete(tuned, problem, options);
  if (options.trust.nested && tuned.outcome.status != StopReason::stopped)
    tuned.nested = nested_score(*again, flags.options);
  for (const std::string& warning : tuned.warnings) say("yosida: {}\n", warning);

  const bool file_on_stdout = std::any_of(outputs.begin(), outputs.end(),
                                          [](const OutputFile& output) { return output.path == "-"; });
  if (!flags.quiet) print_for_people(options, problem, tuned, measures, file_on_stdout);
  if (flags.explain) print_forms(file_on_stdout ? stderr : stdout, {*again, options}, options);
  write_all({{flags.json_file, [&] { return study::result_json(options, problem, tuned); }},
             {flags.trace_file, [&] { return trace_csv(tuned.outcome.trace, tuned.lambda_names); }},
             {flags.split_file, [&] { return split_csv(problem); }},
             {flags.save_file, [&] {
                if (!tuned.model)
                  throw OutputError("there is no model to save: the refit on all rows failed");
                return to_json(*tuned.model);
              }}});
  return tuned.outcome.status == StopReason::diverged ? kDiverged : kOk;
}

void add_output_flags(CLI::App& command, TuneFlags& flags) {
  const std::string group = "Output";
  command
      .add_option("--measure", flags.measures,
                  fmt::format("measures to show, NAME,NAME,...: {}, usual or all [usual]", measure_names()))
      ->delimiter(',')
      ->group(group);
  command.add_flag("--quiet", flags.quiet, "print nothing but errors")->group(group);
  command.add_option("--json", flags.json_file, "the result as JSON; - is standard output")->group(group);
  command.add_option("--trace", flags.trace_file, "every iteration as CSV")->group(group);
  command.add_option("--trace-every", flags.trace_every, "the first N iterations, then only every N-th [1]")
      ->check(signed_number())
      ->group(group);
  command.add_option("--save", flags.save_file, "the model, for yosida predict and coefficients")
      ->group(group);
  command.add_option("--save-split", flags.split_file, "which row went where, as CSV")->group(group);
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("tune", "find the penalty of a linear model");
  auto flags = std::make_shared<TuneFlags>();
  add_data_flags(*command, flags->files, flags->options);
  command
      ->add_option(
          "--targets", flags->files.targets,
          "file of several targets (.npy, .csv): a row for each row of --train, a column for each target")
      ->group("Data");
  add_fold_flags(*command, flags->files, flags->options);
  add_penalty_flags(*command, flags->options.penalty);
  add_trust_flags(*command, flags->options.trust);
  const std::string run = "Run";
  command
      ->add_option("--method", flags->options.method,
                   fmt::format("how lambda is found; see: yosida methods [{}]", kDefaultMethod))
      ->group(run);
  add_run_flags(*command, flags->options, flags->threads);
  command
      ->add_flag("--oracle", flags->options.oracle,
                 "also compute the best lambda there is, and how far this one is from it")
      ->group(run);
  command
      ->add_flag("--refit", flags->options.refit,
                 "at the end train once more with this lambda, on training and validation rows together")
      ->group(run);
  command
      ->add_flag(
          "--explain", flags->explain,
          "also run every way to compute it (passes, factors, products), with expected and real seconds")
      ->group(run);
  command
      ->add_option(
          "--checkpoint", flags->checkpoint_file,
          "keep what is computed in this file as the run goes on; the same command goes on from there")
      ->group(run);
  add_setting_flags(*command, flags->options.settings);
  add_output_flags(*command, *flags);
  for (const char* name :
       {"--train", "--test", "--target", "--model", "--folds", "--method", "--oracle", "--save", "--measure"})
    command->get_option(name)->group("Most used");
  command->footer(
      "Examples:\n"
      "  yosida tune --data spectra --oracle\n"
      "  yosida tune --train train.csv --target price --test test.csv --save model.json\n"
      "  yosida tune --train train.csv --target price,rent,age --folds 5 --save models.json\n"
      "  yosida tune --data mnist --time-limit 60\n"
      "  yosida tune --train train.csv --target kind --model softmax --lambda-per class --folds 5\n"
      "  yosida tune --train a9a --valid a9a.t --model logistic --max-iterations 500\n"
      "  yosida tune --train x.npy --train-target y.npy --method my-hpo-c --alpha 0.01 --json -\n"
      "Exit codes: 0 a result, 2 bad input, 3 diverged (the best iterate is printed), 4 a result could not "
      "be written.");
  command->callback([flags, &exit_code] { exit_code = run_tune(*flags); });
}

}  // namespace yosida::cli
