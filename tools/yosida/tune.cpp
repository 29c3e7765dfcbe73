#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "commands.hpp"
#include "data_flags.hpp"
#include "output.hpp"
#include "problems.hpp"
#include "progress.hpp"
#include "tune_report.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/model/equivalents.hpp"
#include "yosida/model/fitted_model.hpp"
#include "yosida/problem/k_fold_problem.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida::cli {
namespace {

LambdaBounds parse_bounds(const std::string& text) {
  const std::size_t comma = text.find(',');
  const auto number = [&](std::string_view part) {
    double value = 0.0;
    if (!settings::parse_real(part, {-std::numeric_limits<double>::infinity(), false}, value))
      throw InputError(fmt::format("bounds = {}: must be two finite numbers LO,HI", text));
    return value;
  };
  if (comma == std::string::npos)
    throw InputError(fmt::format("bounds = {}: must be two finite numbers LO,HI", text));
  const std::string_view view = text;
  const LambdaBounds bounds{.low = number(view.substr(0, comma)), .high = number(view.substr(comma + 1))};
  if (!(bounds.low < bounds.high))
    throw InputError(fmt::format("bounds = {}: the lower must be below the upper", text));
  return bounds;
}

/// With one λ; all start and are bounded alike.
SolveOptions solve_options(const TuneFlags& flags, const Method& method) {
  SolveOptions options;
  options.start.lambda = Vector::Constant(1, flags.lambda0.value_or(method.lambda0));
  options.start.seed = flags.data.seed;
  if (!flags.bounds.empty()) {
    const LambdaBounds bounds = parse_bounds(flags.bounds);
    options.start.bound(bounds.low, bounds.high);
    // The method's own start is moved inside; one that was asked for is taken at its word.
    if (!flags.lambda0) options.start.clamp(options.start.lambda);
  }
  const auto positive = [](const auto& value, const char* name) {
    if (value && !(*value > 0 && std::isfinite(static_cast<double>(*value))))
      throw InputError(fmt::format("{} = {}: must be > 0 and finite", name, *value));
  };
  positive(flags.budget_gradients, "budget-gradients");
  positive(flags.max_iterations, "max-iterations");
  positive(flags.time_limit, "time-limit");
  if (flags.trace_every < 1)
    throw InputError(fmt::format("trace-every = {}: must be >= 1", flags.trace_every));
  if (flags.budget_gradients) options.budget.gradients = *flags.budget_gradients;
  if (flags.time_limit) options.budget.seconds = *flags.time_limit;
  if (flags.max_iterations) {
    options.budget.iterations = *flags.max_iterations;
  } else if (!flags.budget_gradients && !flags.time_limit) {
    options.budget.iterations = method.default_iterations;
  }
  options.trace_every = flags.trace_file.empty() ? 0 : flags.trace_every;
  return options;
}

/// How many iterations the budget allows, for the choice of the cheapest form of the problem.
double expected_iterations(const Budget& budget, const Method& method) {
  if (method.expected_work > 0.0) return method.expected_work;
  if (method.solves_inner_problems) return std::numeric_limits<double>::infinity();
  const bool only_time = std::isfinite(budget.seconds);
  const auto unlimited = std::numeric_limits<std::int64_t>::max();
  if (only_time && budget.iterations == unlimited && budget.gradients == unlimited)
    return static_cast<double>(method.default_iterations);
  return std::min(static_cast<double>(budget.iterations), 0.5 * static_cast<double>(budget.gradients));
}

/// The same start and bounds for every λ.
void spread(Start& start, Index hyperparameters) {
  start.lambda = Vector::Constant(hyperparameters, start.lambda[0]);
  if (start.is_bounded()) start.bound(start.low[0], start.high[0]);
}

/// Where to start where nobody says: the method's own λ or, for a problem that knows where its λ lie, a place
/// among these, nearer to the larger penalties.
Vector default_start(const BilevelProblem& problem, const Method& method) {
  constexpr double kFromHigh = 0.3;
  if (const auto own = problem.own_bounds()) return own->high + kFromHigh * (own->low - own->high);
  return Vector::Constant(problem.hyperparameters(), method.lambda0);
}

/// What is tuned: the problem of the split, or those of the folds.
struct Problems {
  std::vector<ModelProblem> each;
  std::vector<double> validation_share;

  /// As one problem, in its cheapest form for so many iterations.
  std::shared_ptr<const BilevelProblem> joined(double iterations, bool may_collapse = true) const {
    std::vector<std::shared_ptr<const BilevelProblem>> all;
    for (const ModelProblem& model : each)
      all.push_back(may_collapse ? model.cheapest(iterations) : model.problem);
    return all.size() == 1 ? all[0] : std::make_shared<const KFoldProblem>(std::move(all), validation_share);
  }
};

Problems make_problems(Prepared& data, const Penalty& penalty, bool intercept) {
  Problems problems;
  double rows = 0.0;
  for (const Split& fold : data.folds) rows += static_cast<double>(fold.validation.rows());
  for (Split& fold : data.folds) {
    problems.validation_share.push_back(static_cast<double>(fold.validation.rows()) / rows);
    problems.each.push_back(make_problem(std::move(fold), data, penalty, intercept));
  }
  data.folds.clear();
  if (problems.each.empty())
    problems.each.push_back(make_problem(std::move(data.split), data, penalty, intercept));
  return problems;
}

/// What a solution does on every part, averaged over the folds where there are some.
Report report_solution(const Problems& problems, const BilevelProblem& problem, const Prepared& data,
                       bool intercept, const Solution& solution) {
  const auto* folds = dynamic_cast<const KFoldProblem*>(&problem);
  if (folds == nullptr) return report_all(*problems.each[0].split, data, intercept, solution.w);
  std::vector<Report> reports;
  for (Index k = 0; k < folds->folds(); ++k) {
    const Vector w = folds->fold(k).expand(folds->weights_of_fold(k, solution.point));
    reports.push_back(report_all(*problems.each[static_cast<std::size_t>(k)].split, data, intercept, w));
  }
  return mean_report(reports, problems.validation_share);
}

/// The oracle inside the bounds asked for (or the default ones), and how far the answer is from it.
OracleGap compare_with_oracle(const Problems& problems, const Start& start, const Solution& best) {
  const auto problem = problems.joined(std::numeric_limits<double>::infinity());
  const Start bounds = with_bounds(*problem, start);
  Oracle oracle = find_oracle(*problem, bounds.low[0], bounds.high[0]);
  const double at_best = validation_at(*problem, best.lambda[0]);
  if (at_best <
      oracle.validation) {  // a λ from outside the bounds may be the better one: then it is the truth
    oracle.validation = at_best;
    oracle.lambda = best.lambda[0];
  }
  return {.oracle = oracle,
          .gap = best.loss.validation / oracle.validation - 1.0,
          .lambda_gap = at_best / oracle.validation - 1.0};
}

/// The bounds that a λ is judged in: those asked for, or the data's own, which most methods keep to by
/// themselves. A λ outside these has been held by nothing.
Start judged_inside(const BilevelProblem& problem, const Start& start, const Method& method,
                    const Vector& lambda) {
  if (start.is_bounded()) return start;
  Start own = start;
  own.lambda = default_start(problem, method);
  own = with_bounds(problem, own);
  const bool is_inside =
      (lambda.array() >= own.low.array()).all() && (lambda.array() <= own.high.array()).all();
  return is_inside ? own : start;
}

/// w*(λ) on these rows.
Vector refit(const Split& split, const Dataset& rows, const Prepared& data, const Penalty& penalty,
             bool intercept, const Vector& lambda) {
  Split all = split;
  all.train = rows;
  const auto joined = make_problem(std::move(all), data, penalty, intercept)
                          .cheapest(std::numeric_limits<double>::infinity());
  Vector w = Vector::Zero(joined->weights());
  joined->fit_intercept(w);
  joined->inner_solve(lambda, {}, w);
  return joined->expand(w);
}

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

/// Runs what is extra; a failure there must not cost the result that is already found.
void try_extra(const char* flag, FunctionRef<void()> extra) {
  try {
    extra();
  } catch (const std::exception& error) {
    fmt::print(stderr, "yosida: {} could not be done: {}\n", flag, error.what());
  }
}

int run_tune(const TuneFlags& flags) {
  const Method& chosen = method(flags.method);
  if (model(flags.data.model).penalty != PenaltyForm::l2 && !chosen.takes_kinks)
    throw InputError(fmt::format(
        "method = {}: does not go with --model {}, whose penalty has kinks: must be a method that solves its "
        "inner problems, such as my-hpo or hoag",
        flags.method, flags.data.model));
  const std::unique_ptr<Solver> solver = chosen.make(flags.settings);
  SolveOptions options = solve_options(flags, chosen);
  const std::vector<OutputFile> outputs = {
      {"--json", flags.json_file}, {"--trace", flags.trace_file}, {"--save", flags.save_file}};
  const DataFlags& input = flags.data;
  require_writable(outputs, {input.train, input.validation, input.test, input.train_target,
                             input.validation_target, input.test_target, flags.penalty.groups_file});
  if (flags.threads) set_threads(*flags.threads);

  Prepared data = prepare(flags.data);
  const auto [penalty, lambda_names] = make_penalty(flags.penalty, data, flags.data.x);
  if (flags.oracle && lambda_names.size() > 1)
    throw InputError(fmt::format("--oracle: searches one lambda; here are {} of them", lambda_names.size()));
  spread(options.start, static_cast<Index>(lambda_names.size()));
  const bool intercept = !flags.data.no_intercept;
  const Problems problems = make_problems(data, penalty, intercept);
  const bool has_folds = data.fold_count > 0;
  const Split& split = has_folds ? data.split : *problems.each[0].split;
  const std::shared_ptr<const BilevelProblem> problem =
      problems.joined(expected_iterations(options.budget, chosen), solver->stays_in_row_space());
  if (!flags.lambda0) {
    options.start.lambda = default_start(*problem, chosen);
    options.start.clamp(options.start.lambda);
  }

  Tuned tuned;
  tuned.lambda_names = lambda_names;
  {
    Progress progress(flags.method, options.budget, flags.quiet);
    const Interruption interruption;
    options.observers = {progress.observer(), interruption.observer()};
    tuned.outcome = solve(*solver, *problem, options);
  }
  const Solution& best = tuned.outcome.best;
  tuned.best = report_solution(problems, *problem, data, intercept, best);
  tuned.final = report_solution(problems, *problem, data, intercept, tuned.outcome.final);
  const auto same_as = [&](const Dataset& rows) {
    if (data.model->penalty != PenaltyForm::l2) return l1_equivalents(best.lambda, rows, intercept);
    return penalty.is_shared() ? equivalents(*data.loss, best.lambda[0], rows, intercept) : Equivalents();
  };
  if (!has_folds) tuned.equivalents = same_as(split.train);
  std::optional<Vector> w;  // of the model to keep
  if (!has_folds) w = best.w;
  // Whoever has stopped the run wants its result now.
  const bool was_stopped = tuned.outcome.status == StopReason::stopped;
  if (flags.oracle && !was_stopped)
    try_extra("--oracle", [&] { tuned.oracle = compare_with_oracle(problems, options.start, best); });
  if (!was_stopped)
    try_extra("the certificate", [&] {
      tuned.certificate =
          certify(*problem, best, judged_inside(*problem, options.start, chosen, best.lambda));
      if (tuned.oracle) {
        tuned.certificate->gap = tuned.oracle->gap;
        tuned.certificate->lambda_gap = tuned.oracle->lambda_gap;
      }
    });
  if (has_folds || (flags.refit && !was_stopped))
    try_extra(has_folds ? "the refit on all rows" : "--refit", [&] {
      const Dataset rows = has_folds ? split.train : train_and_validation(split);
      w = refit(split, rows, data, penalty, intercept, best.lambda);
      tuned.refit = report_all(split, data, intercept, *w);
      if (has_folds) tuned.refit->validation.reset();
      tuned.refit_equivalents = same_as(rows);
    });

  const bool file_on_stdout = std::any_of(outputs.begin(), outputs.end(),
                                          [](const OutputFile& output) { return output.path == "-"; });
  if (!flags.quiet) print_result(file_on_stdout ? stderr : stdout, flags, data, split, tuned);
  write_all({{flags.json_file, [&] { return result_json(flags, data, split, tuned); }},
             {flags.trace_file, [&] { return trace_csv(tuned.outcome.trace, lambda_names); }},
             {flags.save_file, [&] {
                if (!w) throw OutputError("there is no model to save: the refit on all rows failed");
                return to_json(fitted_model(flags, data, split, best.lambda, *w));
              }}});
  return tuned.outcome.status == StopReason::diverged ? kDiverged : kOk;
}

/// One flag for each setting of any method; the method decides whether it knows it.
void add_setting_flags(CLI::App& command, SettingValues& values) {
  std::map<std::string, std::string> meanings;
  for (const Method& each : methods())
    for (const SettingInfo& setting : each.settings) meanings.emplace(setting.name, setting.meaning);
  for (const auto& [name, meaning] : meanings) {
    std::string flag = "--" + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    command
        .add_option_function<std::string>(
            flag, [&values, name = name](const std::string& text) { values[name] = text; }, meaning)
        ->group("Method settings (yosida methods NAME shows which method takes which)");
  }
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
  command
      ->add_option("--budget-gradients", flags->budget_gradients,
                   "stop before more gradient computations than this")
      ->group(run);
  command->add_option("--max-iterations", flags->max_iterations, "stop after so many iterations")->group(run);
  command->add_option("--time-limit", flags->time_limit, "stop after so many seconds")->group(run);
  command->add_option("--lambda0", flags->lambda0, "where every lambda starts (the method's own start)")
      ->group(run);
  command->add_option("--bounds", flags->bounds, "keep lambda inside LO,HI (and search the oracle there)")
      ->group(run);
  command
      ->add_flag("--oracle", flags->oracle,
                 "also compute the best lambda there is, and how far this one is from it")
      ->group(run);
  command
      ->add_flag("--refit", flags->refit, "train the found lambda on training and validation rows at the end")
      ->group(run);
  command->add_option("--threads", flags->threads, "threads for large designs [all cores]")->group(run);
  add_setting_flags(*command, flags->settings);
  const std::string output = "Output";
  command->add_flag("--quiet", flags->quiet, "print nothing but errors")->group(output);
  command->add_option("--json", flags->json_file, "the result as JSON; - is standard output")->group(output);
  command->add_option("--trace", flags->trace_file, "every iteration as CSV")->group(output);
  command->add_option("--trace-every", flags->trace_every, "only every so many-th iteration [1]")
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
