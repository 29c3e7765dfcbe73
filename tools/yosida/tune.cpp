#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "data_flags.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "yosida/error.hpp"
#include "yosida/linalg/threads.hpp"
#include "yosida/model/equivalents.hpp"
#include "yosida/model/fitted_model.hpp"
#include "yosida/model/metrics.hpp"
#include "yosida/problem/collapse.hpp"
#include "yosida/solver/methods.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida::cli {
namespace {

using json = nlohmann::ordered_json;

constexpr int kSchema = 1;

struct TuneFlags {
  DataFlags data;
  std::string method = kDefaultMethod;
  SettingValues settings;
  std::optional<std::int64_t> budget_gradients, max_iterations;
  std::optional<double> time_limit, lambda0;
  std::string bounds;
  bool oracle = false, refit = false, quiet = false;
  std::optional<int> threads;
  std::string json_file, trace_file, save_file;
  std::int64_t trace_every = 1;
};

struct OracleGap {
  Oracle oracle;
  double gap;
  double lambda_gap;
};

/// What one set of weights does on one part of the data.
struct PartReport {
  double loss;
  std::optional<double> scaled_loss, r_squared, accuracy, area_under_roc;
};

struct Report {
  PartReport train, validation;
  std::optional<PartReport> test;
};

/// Everything there is to say of a finished run.
struct Tuned {
  Outcome outcome;
  Report best, final;
  std::optional<Report> refit;
  std::optional<OracleGap> oracle;
  Equivalents equivalents, refit_equivalents;
};

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

SolveOptions solve_options(const TuneFlags& flags, const Method& method) {
  SolveOptions options;
  options.start.lambda = Vector::Constant(1, flags.lambda0.value_or(method.lambda0));
  options.start.seed = flags.data.seed;
  if (!flags.bounds.empty()) {
    const LambdaBounds bounds = parse_bounds(flags.bounds);
    options.start.low = bounds.low;
    options.start.high = bounds.high;
    // The method's own start is moved inside; one that was asked for is taken at its word.
    if (!flags.lambda0) options.start.lambda[0] = std::clamp(method.lambda0, bounds.low, bounds.high);
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
  if (method.solves_inner_problems) return std::numeric_limits<double>::infinity();
  const bool only_time = std::isfinite(budget.seconds);
  const auto unlimited = std::numeric_limits<std::int64_t>::max();
  if (only_time && budget.iterations == unlimited && budget.gradients == unlimited)
    return static_cast<double>(method.default_iterations);
  return std::min(static_cast<double>(budget.iterations), 0.5 * static_cast<double>(budget.gradients));
}

PartReport report_part(const Dataset& data, const Loss& loss, bool intercept, const Vector& w) {
  const Vector m = margins(data, intercept, w);
  PartReport report{.loss = mean_loss(data, loss, intercept, w),
                    .scaled_loss = {},
                    .r_squared = {},
                    .accuracy = {},
                    .area_under_roc = {}};
  if (loss.is_classification()) {
    report.accuracy = accuracy(data.y, m);
    report.area_under_roc = area_under_roc(data.y, m);
  } else {
    report.r_squared = r_squared(data.y, m);
    if (const double spread = variance(data.y); spread > 0.0) report.scaled_loss = report.loss / spread;
  }
  return report;
}

Report report_all(const Split& split, const Loss& loss, bool intercept, const Vector& w) {
  Report report{.train = report_part(split.train, loss, intercept, w),
                .validation = report_part(split.validation, loss, intercept, w),
                .test = {}};
  if (split.test) report.test = report_part(*split.test, loss, intercept, w);
  return report;
}

/// The oracle inside the bounds asked for (or the default ones), and how far the answer is from it.
OracleGap compare_with_oracle(const std::shared_ptr<const LinearProblem>& linear, const TuneFlags& flags,
                              double lambda0, const Solution& best) {
  const auto problem = collapse_if_cheaper(linear, std::numeric_limits<double>::infinity());
  const LambdaBounds bounds =
      flags.bounds.empty() ? default_bounds(*problem, lambda0) : parse_bounds(flags.bounds);
  Oracle oracle = find_oracle(*problem, bounds.low, bounds.high);
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

/// w*(λ) on training and validation rows together.
Vector refit(const LinearProblem& problem, const Dataset& rows, const Vector& lambda) {
  Split both = problem.split();
  both.train = rows;
  const auto joined = collapse_if_cheaper(
      std::make_shared<const LinearProblem>(both, problem.loss(), problem.has_intercept()),
      std::numeric_limits<double>::infinity());
  Vector w = Vector::Zero(joined->weights());
  joined->fit_intercept(w);
  joined->inner_solve(lambda, {}, w);
  return joined->expand(w);
}

// ---- JSON ----

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }

json by_part(const Report& report, FunctionRef<json(const PartReport&)> field) {
  json result = {{"train", field(report.train)}, {"validation", field(report.validation)}};
  result["test"] = report.test ? field(*report.test) : json(nullptr);
  return result;
}

void add_report(json& target, const Report& report, bool classification) {
  target["loss"] = by_part(report, [](const PartReport& part) { return number(part.loss); });
  if (classification) {
    target["accuracy"] = by_part(report, [](const PartReport& part) { return number(part.accuracy); });
    target["area_under_roc"] =
        by_part(report, [](const PartReport& part) { return number(part.area_under_roc); });
  } else {
    target["scaled_loss"] = by_part(report, [](const PartReport& part) { return number(part.scaled_loss); });
    target["r_squared"] = by_part(report, [](const PartReport& part) { return number(part.r_squared); });
  }
}

json equivalents_json(const Equivalents& equivalents) {
  json result = json::object();
  for (const auto& [name, value] : equivalents) result[name] = number(value);
  return result;
}

json lambda_array(const Vector& lambda) { return std::vector<double>(lambda.begin(), lambda.end()); }

json work_json(const Work& work) {
  return {{"train_gradients", work.train_gradients},
          {"validation_gradients", work.validation_gradients},
          {"hessian_products", work.hessian_products},
          {"loss_evaluations", work.loss_evaluations},
          {"inner_solves", work.inner_solves},
          {"paper_count", work.paper_count()},
          {"gradient_equivalents", number(work.gradient_equivalents())}};
}

std::string result_json(const TuneFlags& flags, const Prepared& data, const Split& split,
                        const Tuned& tuned) {
  const Outcome& outcome = tuned.outcome;
  const bool classification = data.labels.has_value();
  json root = {{"schema", kSchema},
               {"yosida", YOSIDA_VERSION},
               {"method", flags.method},
               {"model", flags.data.model},
               {"status", to_string(outcome.status)},
               {"message", outcome.message},
               {"lambda", lambda_array(outcome.best.lambda)}};
  root["equivalents"] = equivalents_json(tuned.equivalents);
  add_report(root, tuned.best, classification);
  root["work"] = work_json(outcome.work);
  root["residuals"] = {{"primal", number(outcome.primal_residual)}, {"dual", number(outcome.dual_residual)}};
  root["iterations"] = outcome.iterations;
  root["best_iteration"] = outcome.best.iteration;
  root["skipped_steps"] = outcome.skipped_steps;
  root["inexact_solves"] = outcome.inexact_solves;
  root["seconds"] = outcome.seconds;
  root["final"] = {{"lambda", lambda_array(outcome.final.lambda)}, {"iteration", outcome.final.iteration}};
  add_report(root["final"], tuned.final, classification);
  if (tuned.refit) {
    root["refit"] = json::object();
    root["refit"]["equivalents"] = equivalents_json(tuned.refit_equivalents);
    add_report(root["refit"], *tuned.refit, classification);
  }
  if (tuned.oracle)
    root["oracle"] = {{"lambda", tuned.oracle->oracle.lambda},
                      {"validation", number(tuned.oracle->oracle.validation)},
                      {"gap", number(tuned.oracle->gap)},
                      {"lambda_gap", number(tuned.oracle->lambda_gap)},
                      {"bounds", {tuned.oracle->oracle.low, tuned.oracle->oracle.high}}};
  root["data"] = {{"source", split.train.source},
                  {"train_rows", split.train.rows()},
                  {"validation_rows", split.validation.rows()},
                  {"test_rows", split.test ? split.test->rows() : 0},
                  {"features", split.train.features()},
                  {"x", flags.data.x},
                  {"y", classification ? "labels" : flags.data.y.value_or("center")},
                  {"intercept", !flags.data.no_intercept},
                  {"seed", flags.data.seed}};
  // A path may hold bytes that are no UTF-8: they are shown as such, not a reason to lose the result.
  return root.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

// ---- text ----

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "-"; }

void print_row(std::FILE* out, const char* name, const Report& report,
               FunctionRef<std::optional<double>(const PartReport&)> field) {
  fmt::print(out, "  {:<14} {:>12} {:>12} {:>12}\n", name, cell(field(report.train)),
             cell(field(report.validation)), report.test ? cell(field(*report.test)) : "-");
}

void print_report(std::FILE* out, const Report& report, bool classification) {
  print_row(out, "loss", report, [](const PartReport& part) { return std::optional(part.loss); });
  if (classification) {
    print_row(out, "accuracy", report, [](const PartReport& part) { return part.accuracy; });
    print_row(out, "ROC area", report, [](const PartReport& part) { return part.area_under_roc; });
  } else {
    print_row(out, "scaled loss", report, [](const PartReport& part) { return part.scaled_loss; });
    print_row(out, "R squared", report, [](const PartReport& part) { return part.r_squared; });
  }
}

std::string in_words(const Equivalents& equivalents) {
  std::string text;
  for (const auto& [name, value] : equivalents)
    text += fmt::format("{}{} = {:.6g}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string percent(double share) { return fmt::format("{:+.3g} %", 100.0 * share); }

void print_result(std::FILE* out, const TuneFlags& flags, const Prepared& data, const Split& split,
                  const Tuned& tuned) {
  const Outcome& outcome = tuned.outcome;
  const bool classification = data.labels.has_value();
  const double lambda = outcome.best.lambda[0];
  fmt::print(out, "{} with {} on {}: {} training, {} validation, {} test rows, {} features\n",
             flags.data.model, flags.method, split.train.source, split.train.rows(), split.validation.rows(),
             split.test ? split.test->rows() : 0, split.train.features());
  if (!data.note.empty()) fmt::print(out, "note: {}\n", data.note);
  fmt::print(out, "\n  {:<14} {:.6g}  (penalty e^lambda = {:.4g}, found at iteration {})\n", "lambda", lambda,
             std::exp(lambda), outcome.best.iteration);
  fmt::print(out, "  {:<14} {}\n  {:<14} (for the pretreated training rows: x {}{})\n\n", "the same as",
             in_words(tuned.equivalents), "", flags.data.x,
             classification ? "" : ", y " + flags.data.y.value_or("center"));
  fmt::print(out, "  {:<14} {:>12} {:>12} {:>12}\n", "", "train", "validation", "test");
  print_report(out, tuned.best, classification);
  if (tuned.refit) {
    fmt::print(out, "  refitted on training and validation rows ({}):\n", in_words(tuned.refit_equivalents));
    print_report(out, *tuned.refit, classification);
  }
  fmt::print(out, "\n  {:<14} {}: {}\n", "stopped", to_string(outcome.status), outcome.message);
  fmt::print(out, "  {:<14} {} iterations, {} gradient computations, {:.0f} gradient equivalents, {:.3g} s\n",
             "cost", outcome.iterations, outcome.work.paper_count(), outcome.work.gradient_equivalents(),
             outcome.seconds);
  if (tuned.oracle) {
    const Oracle& oracle = tuned.oracle->oracle;
    fmt::print(out, "  {:<14} lambda {:.6g}, validation loss {:.6g}; this model {}, this lambda {}\n",
               "oracle", oracle.lambda, oracle.validation, percent(tuned.oracle->gap),
               percent(tuned.oracle->lambda_gap));
    if (oracle.at_bound())
      fmt::print(out, "  {:<14} its lambda lies on the bound of the search; see --bounds\n", "");
    if (oracle.inexact_solves > 0)
      fmt::print(out, "  {:<14} {} of its inner problems were not solved to their tolerance\n", "",
                 oracle.inexact_solves);
  }
}

std::string trace_csv(const Trace& trace) {
  std::string text =
      "iteration,lambda,train,validation,test,primal,dual,train_gradients,validation_gradients,hessian_"
      "products,"
      "loss_evaluations,inner_solves,paper_count,gradient_equivalents,seconds\n";
  const auto field = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.17g}", value) : std::string();
  };
  for (const TracePoint& point : trace) {
    const Work& work = point.work;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6f}\n", point.iteration,
                        field(point.lambda[0]), field(point.loss.train), field(point.loss.validation),
                        point.loss.test ? field(*point.loss.test) : "", field(point.primal_residual),
                        field(point.dual_residual), work.train_gradients, work.validation_gradients,
                        work.hessian_products, work.loss_evaluations, work.inner_solves, work.paper_count(),
                        field(work.gradient_equivalents()), point.seconds);
  }
  return text;
}

FittedModel fitted_model(const TuneFlags& flags, const Prepared& data, const Split& split,
                         const Vector& lambda, const Vector& w) {
  const Index d = split.train.features();
  return {.model = flags.data.model,
          .method = flags.method,
          .lambda = {lambda.begin(), lambda.end()},
          .weights = w.head(d),
          .intercept = flags.data.no_intercept ? 0.0 : w[d],
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
  const std::unique_ptr<Solver> solver = chosen.make(flags.settings);
  SolveOptions options = solve_options(flags, chosen);
  const std::vector<OutputFile> outputs = {
      {"--json", flags.json_file}, {"--trace", flags.trace_file}, {"--save", flags.save_file}};
  const DataFlags& input = flags.data;
  require_writable(outputs, {input.train, input.validation, input.test, input.train_target,
                             input.validation_target, input.test_target});
  if (flags.threads) set_threads(*flags.threads);

  const Loss& loss = loss_of_model(flags.data.model);
  Prepared data = prepare(flags.data, loss);
  const bool intercept = !flags.data.no_intercept;
  const auto linear = std::make_shared<const LinearProblem>(std::move(data.split), loss, intercept);
  const Split& split = linear->split();
  const std::shared_ptr<const BilevelProblem> problem =
      solver->stays_in_row_space() ? collapse_if_cheaper(linear, expected_iterations(options.budget, chosen))
                                   : linear;

  Tuned tuned;
  {
    Progress progress(flags.method, options.budget, flags.quiet);
    const Interruption interruption;
    options.observers = {progress.observer(), interruption.observer()};
    tuned.outcome = solve(*solver, *problem, options);
  }
  const Solution& best = tuned.outcome.best;
  tuned.best = report_all(split, loss, intercept, best.w);
  tuned.final = report_all(split, loss, intercept, tuned.outcome.final.w);
  tuned.equivalents = equivalents(loss, best.lambda[0], split.train, intercept);
  Vector w = best.w;
  // Whoever has stopped the run wants its result now.
  const bool was_stopped = tuned.outcome.status == StopReason::stopped;
  if (flags.oracle && !was_stopped)
    try_extra("--oracle",
              [&] { tuned.oracle = compare_with_oracle(linear, flags, options.start.lambda[0], best); });
  if (flags.refit && !was_stopped)
    try_extra("--refit", [&] {
      const Dataset rows = train_and_validation(split);
      w = refit(*linear, rows, best.lambda);
      tuned.refit = report_all(split, loss, intercept, w);
      tuned.refit_equivalents = equivalents(loss, best.lambda[0], rows, intercept);
    });

  const bool file_on_stdout = std::any_of(outputs.begin(), outputs.end(),
                                          [](const OutputFile& output) { return output.path == "-"; });
  if (!flags.quiet) print_result(file_on_stdout ? stderr : stdout, flags, data, split, tuned);
  write_all({{flags.json_file, [&] { return result_json(flags, data, split, tuned); }},
             {flags.trace_file, [&] { return trace_csv(tuned.outcome.trace); }},
             {flags.save_file, [&] { return to_json(fitted_model(flags, data, split, best.lambda, w)); }}});
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
  command->add_option("--lambda0", flags->lambda0, "where lambda starts (the method's own start)")
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
      "  yosida tune --train a9a --valid a9a.t --model logistic --max-iterations 500\n"
      "  yosida tune --train x.npy --train-target y.npy --method my-hpo-c --alpha 0.01 --json -\n"
      "Exit codes: 0 a result, 2 bad input, 3 diverged (the best iterate is printed), 4 a result could not "
      "be written.");
  command->callback([flags, &exit_code] { exit_code = run_tune(*flags); });
}

}  // namespace yosida::cli
