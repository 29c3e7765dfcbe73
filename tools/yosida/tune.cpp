#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "commands.hpp"
#include "data_flags.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "tuning.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/model/equivalents.hpp"
#include "yosida/model/fitted_model.hpp"
#include "yosida/solver/methods.hpp"

namespace yosida::cli {
namespace {

FittedModel fitted_model(const TuneFlags& flags, const Prepared& data, const Split& split,
                         const Vector& lambda, const Vector& w) {
  const Index d = split.train.features();
  const Index outputs = data.loss->outputs();
  return {.model = flags.data.model,
          .method = flags.method,
          .lambda = {lambda.begin(), lambda.end()},
          .weights = Eigen::Map<const Matrix>(w.data(), d, outputs),
          .intercept = flags.data.no_intercept ? Vector::Zero(outputs) : Vector(w.tail(outputs)),
          .pretreatment = data.pretreatment,
          .features = data.features,
          .feature_names = data.feature_names,
          .target_name = split.train.target_name,
          .labels = data.labels};
}

/// Writes each file that has a name, also where another could not be written; then throws the first error.
void write_all(const std::vector<std::pair<std::string, std::function<std::string()>>>& files) {
  std::string problems;
  for (const auto& [path, text] : files) {
    if (path.empty()) continue;
    try {
      write_file(path, text());
    } catch (const std::exception& error) {
      problems += (problems.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  if (!problems.empty()) throw OutputError(problems);
}

int run_tune(const TuneFlags& flags) {
  const Method& chosen = method(flags.method);
  require_method_fits(chosen, flags.settings, flags.data.model);
  static_cast<void>(chosen.make(flags.settings));  // refuses bad settings before the data is read
  const MethodRun run{.method = chosen, .settings = flags.settings, .flags = flags.run};
  SolveOptions options = run.options(flags.data.seed);
  if (flags.trace_every < 1)
    throw InputError(fmt::format("trace-every = {}: must be >= 1", flags.trace_every));
  options.trace_every = flags.trace_file.empty() ? 0 : flags.trace_every;
  const std::vector<OutputFile> outputs = {
      {"--json", flags.json_file}, {"--trace", flags.trace_file}, {"--save", flags.save_file}};
  std::vector<std::string> inputs = flags.data.files();
  inputs.push_back(flags.penalty.groups_file);
  require_writable(outputs, inputs);
  if (flags.run.threads) set_threads(*flags.run.threads);

  const Task task(flags.data, flags.penalty);
  if (flags.oracle && task.hyperparameters() > 1)
    throw InputError(
        fmt::format("--oracle: searches one lambda; here are {} of them", task.hyperparameters()));
  const Prepared& data = task.data();
  const Split& split = task.split();

  Tuned tuned;
  {
    Budget shown = options.budget;
    if (chosen.counts_trials)
      shown.iterations = std::min(shown.iterations, chosen.default_iterations_of(flags.settings));
    Progress progress(flags.method, shown, flags.quiet);
    const Interruption interruption;
    options.observers = {progress.observer(), interruption.observer()};
    tuned = run.run(task, options);
  }
  const Solution& best = tuned.outcome.best;
  const auto same_as = [&](const Dataset& rows) {
    if (data.model->penalty != PenaltyForm::l2)
      return l1_equivalents(best.lambda, rows, task.has_intercept());
    return task.penalty().is_shared() ? equivalents(*data.loss, best.lambda[0], rows, task.has_intercept())
                                      : Equivalents();
  };
  if (!task.has_folds()) tuned.equivalents = same_as(split.train);
  std::optional<Vector> w;  // of the model to keep
  if (!task.has_folds()) w = best.w;
  // Whoever has stopped the run wants its result now.
  const bool was_stopped = tuned.outcome.status == StopReason::stopped;
  if (flags.oracle && !was_stopped)
    try_extra("--oracle", [&] { tuned.add_oracle(task.gap(task.oracle(tuned.start), best)); });
  if (task.has_folds() || (flags.refit && !was_stopped))
    try_extra(task.has_folds() ? "the refit on all rows" : "--refit", [&] {
      const Dataset rows = task.has_folds() ? split.train : train_and_validation(split);
      w = task.refit(rows, best.lambda);
      tuned.refit = report_all(split, data, task.has_intercept(), *w);
      if (task.has_folds()) tuned.refit->validation.reset();
      tuned.refit_equivalents = same_as(rows);
    });

  const bool file_on_stdout = std::any_of(outputs.begin(), outputs.end(),
                                          [](const OutputFile& output) { return output.path == "-"; });
  const auto print_to = [&](std::FILE* out) { print_result(out, flags, data, split, tuned); };
  if (!flags.quiet && !file_on_stdout) print_to(stdout);
  if (!flags.quiet && file_on_stdout) try_extra("printing the result", [&] { print_to(stderr); });
  write_all({{flags.json_file, [&] { return result_json(flags, data, split, tuned); }},
             {flags.trace_file, [&] { return trace_csv(tuned.outcome.trace, task.lambda_names()); }},
             {flags.save_file, [&] {
                if (!w) throw OutputError("there is no model to save: the refit on all rows failed");
                return to_json(fitted_model(flags, data, split, best.lambda, *w));
              }}});
  return tuned.outcome.status == StopReason::diverged ? kDiverged : kOk;
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("tune", "find the penalty of a linear model");
  auto flags = std::make_shared<TuneFlags>();
  flags->data.add_to(*command);
  flags->data.add_folds_to(*command);
  flags->penalty.add_to(*command);
  const std::string run = "Run";
  command
      ->add_option("--method", flags->method,
                   fmt::format("how lambda is found; see: yosida methods [{}]", kDefaultMethod))
      ->group(run);
  flags->run.add_to(*command);
  command
      ->add_flag("--oracle", flags->oracle,
                 "also compute the best lambda there is, and how far this one is from it")
      ->group(run);
  command
      ->add_flag("--refit", flags->refit, "train the found lambda on training and validation rows at the end")
      ->group(run);
  add_setting_flags(*command, flags->settings);
  const std::string output = "Output";
  command->add_flag("--quiet", flags->quiet, "print nothing but errors")->group(output);
  command->add_option("--json", flags->json_file, "the result as JSON; - is standard output")->group(output);
  command->add_option("--trace", flags->trace_file, "every iteration as CSV")->group(output);
  command
      ->add_option("--trace-every", flags->trace_every,
                   "all of the first so many iterations, then only every so many-th [1]")
      ->check(signed_number())
      ->group(output);
  command->add_option("--save", flags->save_file, "the model, for yosida predict")->group(output);
  command->footer(
      "Examples:\n"
      "  yosida tune --data spectra --oracle\n"
      "  yosida tune --train train.csv --target price --test test.csv --save model.json\n"
      "  yosida tune --train train.csv --target kind --model softmax --lambda-per class --folds 5\n"
      "  yosida tune --train a9a --valid a9a.t --model logistic --max-iterations 500\n"
      "  yosida tune --train x.npy --train-target y.npy --method my-hpo-c --alpha 0.01 --json -\n"
      "Exit codes: 0 a result, 2 bad input, 3 diverged (the best iterate is printed), 4 a result could not "
      "be written.");
  command->callback([flags, &exit_code] { exit_code = run_tune(*flags); });
}

}  // namespace yosida::cli
