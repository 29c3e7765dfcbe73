#include "tuning.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <new>

#include "commands.hpp"
#include "say.hpp"
#include "yosida/error.hpp"
#include "yosida/solver/oracle.hpp"

namespace yosida::cli {
namespace {

constexpr double kManyIterations = std::numeric_limits<double>::infinity();

/// How many iterations the budget allows, for the choice of the cheapest form of the problem.
double expected_iterations(const Budget& budget, const Method& method) {
  if (method.expected_work > 0.0) return method.expected_work;
  if (method.solves_inner_problems) return kManyIterations;
  const bool only_time = std::isfinite(budget.seconds);
  const auto unlimited = std::numeric_limits<std::int64_t>::max();
  if (only_time && budget.iterations == unlimited && budget.gradients == unlimited)
    return static_cast<double>(method.default_iterations);
  return std::min(static_cast<double>(budget.iterations), 0.5 * static_cast<double>(budget.gradients));
}

/// Where to start where nobody says: the method's own λ or, for a problem that knows where its λ lie, a place
/// among these, nearer to the larger penalties.
Vector default_start(const BilevelProblem& problem, const Method& method) {
  constexpr double kFromHigh = 0.3;
  if (const auto own = problem.own_bounds()) return own->high + kFromHigh * (own->low - own->high);
  return Vector::Constant(problem.hyperparameters(), method.lambda0);
}

/// The bounds that a λ is judged in: those asked for or those the run has kept to, else the data's own, which
/// most methods keep to by themselves. A λ outside these has been held by nothing.
Start judged_inside(const BilevelProblem& problem, const Start& start, const Method& method,
                    const Outcome& outcome) {
  if (start.is_bounded()) return start;
  const Vector& lambda = outcome.best.lambda;
  Start own = start;
  own.low = outcome.low;
  own.high = outcome.high;
  if (own.is_bounded()) return own;
  own.lambda = default_start(problem, method);
  own = with_bounds(problem, own);
  const bool is_inside =
      (lambda.array() >= own.low.array()).all() && (lambda.array() <= own.high.array()).all();
  return is_inside ? own : start;
}

}  // namespace

// ---- the data as problems ----

Task::Task(const DataFlags& data, const PenaltyFlags& penalty)
    : Task(prepare(data), penalty, data.x, !data.no_intercept) {}

Task::Task(Prepared data, const PenaltyFlags& penalty, const std::string& x_steps, bool intercept)
    : data_(std::move(data)), penalty_(make_penalty(penalty, data_, x_steps)), intercept_(intercept) {
  double rows = 0.0;
  for (const Split& fold : data_.folds) rows += static_cast<double>(fold.validation.rows());
  for (Split& fold : data_.folds) {
    validation_share_.push_back(static_cast<double>(fold.validation.rows()) / rows);
    problems_.push_back(make_problem(std::move(fold), data_, penalty_.penalty, intercept_));
  }
  data_.folds.clear();
  if (problems_.empty())
    problems_.push_back(make_problem(std::move(data_.split), data_, penalty_.penalty, intercept_));
}

std::shared_ptr<const BilevelProblem> Task::problem(double iterations, bool may_collapse) const {
  std::vector<std::shared_ptr<const BilevelProblem>> all;
  for (const ModelProblem& model : problems_)
    all.push_back(may_collapse ? model.cheapest(iterations) : model.problem);
  return all.size() == 1 ? all[0] : std::make_shared<const KFoldProblem>(std::move(all), validation_share_);
}

Report Task::report(const BilevelProblem& problem, const Solution& solution) const {
  const auto* folds = dynamic_cast<const KFoldProblem*>(&problem);
  if (folds == nullptr) return report_all(*problems_[0].split, data_, intercept_, solution.w);
  std::vector<Report> reports;
  for (Index k = 0; k < folds->folds(); ++k) {
    const Vector w = folds->fold(k).expand(folds->weights_of_fold(k, solution.point));
    reports.push_back(report_all(*problems_[static_cast<std::size_t>(k)].split, data_, intercept_, w));
  }
  return mean_report(reports, validation_share_);
}

Oracle Task::oracle(const Start& start) const {
  const auto tightly = problem(kManyIterations);
  const Start bounds = with_bounds(*tightly, start);
  return find_oracle(*tightly, bounds.low[0], bounds.high[0]);
}

OracleGap Task::gap(Oracle oracle, const Solution& solution) const {
  const double at_solution = validation_at(*problem(kManyIterations), solution.lambda[0]);
  if (at_solution <
      oracle.validation) {  // a λ from outside the bounds may be the better one: then it is the truth
    oracle.validation = at_solution;
    oracle.lambda = solution.lambda[0];
  }
  return {.oracle = oracle,
          .gap = solution.loss.validation / oracle.validation - 1.0,
          .lambda_gap = at_solution / oracle.validation - 1.0};
}

Vector Task::refit(const Dataset& rows, const Vector& lambda) const {
  Split all = split();
  all.train = rows;
  const auto joined =
      make_problem(std::move(all), data_, penalty_.penalty, intercept_).cheapest(kManyIterations);
  Vector w = Vector::Zero(joined->weights());
  joined->fit_intercept(w);
  joined->inner_solve(lambda, {}, w);
  return joined->expand(w);
}

// ---- one method on it ----

void require_method_fits(const Method& method, const SettingValues& settings, const std::string& model) {
  if (yosida::model(model).penalty == PenaltyForm::l2) return;
  const auto steps = settings.find("train_steps");
  if (method.takes_kinks) {
    if (steps == settings.end() || steps->second == "exact") return;
    throw InputError(fmt::format(
        "{}: train_steps = {}: must be exact for --model {}, whose penalty has kinks: gradient steps would "
        "never set a weight to 0",
        method.name, steps->second, model));
  }
  throw InputError(fmt::format(
      "method = {}: does not go with --model {}, whose penalty has kinks: must be a method that solves its "
      "inner problems, such as my-hpo or hoag",
      method.name, model));
}

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

SolveOptions MethodRun::options(std::uint64_t seed) const {
  SolveOptions options;
  options.start.lambda = Vector::Constant(1, flags.lambda0.value_or(method.lambda0));
  options.start.seed = seed;
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
  if (flags.budget_gradients) options.budget.gradients = *flags.budget_gradients;
  if (flags.time_limit) options.budget.seconds = *flags.time_limit;
  if (flags.max_iterations) {
    options.budget.iterations = *flags.max_iterations;
  } else if (!flags.budget_gradients && !flags.time_limit && !method.counts_trials) {
    options.budget.iterations = method.default_iterations_of(settings);
  }
  return options;
}

std::shared_ptr<const BilevelProblem> MethodRun::prepare(const Task& task, const Solver& solver,
                                                         SolveOptions& options) const {
  // The same start and bounds for every λ.
  Start& start = options.start;
  start.lambda = Vector::Constant(task.hyperparameters(), start.lambda[0]);
  if (start.is_bounded()) start.bound(start.low[0], start.high[0]);
  auto problem = task.problem(expected_iterations(options.budget, method), solver.stays_in_row_space());
  if (!flags.lambda0) {
    start.lambda = default_start(*problem, method);
    start.clamp(start.lambda);
  }
  return problem;
}

Tuned MethodRun::run(const Task& task, SolveOptions options) const {
  const std::unique_ptr<Solver> solver = method.make(settings);
  const auto problem = prepare(task, *solver, options);
  Tuned tuned;
  tuned.lambda_names = task.lambda_names();
  tuned.outcome = solve(*solver, *problem, options);
  tuned.start = options.start;
  const Solution& best = tuned.outcome.best;
  tuned.best = task.report(*problem, best);
  tuned.final = task.report(*problem, tuned.outcome.final);
  // Whoever has stopped the run wants its result now.
  if (tuned.outcome.status != StopReason::stopped)
    try_extra("the certificate", [&] {
      tuned.certificate =
          certify(*problem, best, judged_inside(*problem, options.start, method, tuned.outcome));
    });
  return tuned;
}

void MethodRun::try_start(const Task& task, SolveOptions options) const {
  const std::unique_ptr<Solver> solver = method.make(settings);
  const auto problem = prepare(task, *solver, options);
  options.budget.seconds = 0.0;  // ends before the first step
  options.trace_every = 0;
  solve(*solver, *problem, options);
}

void try_extra(const char* flag, FunctionRef<void()> extra) {
  try {
    extra();
  } catch (const std::bad_alloc&) {
    say("yosida: {} could not be done: there is not enough memory\n", flag);
  } catch (const std::exception& error) {
    say("yosida: {} could not be done: {}\n", flag, error.what());
  }
}

// ---- flags ----

void RunFlags::add_to(CLI::App& command) {
  const std::string run = "Run";
  command
      .add_option("--budget-gradients", budget_gradients, "stop before more gradient computations than this")
      ->check(signed_number())
      ->group(run);
  command.add_option("--max-iterations", max_iterations, "stop after so many iterations")
      ->check(signed_number())
      ->group(run);
  command.add_option("--time-limit", time_limit, "stop after so many seconds")->group(run);
  command.add_option("--lambda0", lambda0, "where every lambda starts (the method's own start)")->group(run);
  command.add_option("--bounds", bounds, "keep lambda inside LO,HI (and search the oracle there)")
      ->group(run);
  command.add_option("--threads", threads, "threads for large designs [all cores]")->group(run);
}

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

}  // namespace yosida::cli
