#include "yosida/tune/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <new>

#include "linalg/ranks.hpp"
#include "linalg/row_numbers.hpp"
#include "problem/counted_problem.hpp"
#include "problem/replayed_problem.hpp"
#include "problem/shrunken_problem.hpp"
#include "solver/along_line.hpp"
#include "solver/solve_for_report.hpp"
#include "tune/solve_options.hpp"
#include "tune/start_and_bounds.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/tune/checkpoint.hpp"
#include "yosida/version.hpp"

namespace yosida {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
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

/// A run that is ready to go: the problem in its form, and where it starts.
struct ReadyRun {
  const Method& method;
  std::unique_ptr<Solver> solver;
  SolveOptions options;
  std::shared_ptr<const BilevelProblem> problem;
  double shrinkage = 0.0;
  Work work_of_shared = {};  // what the best λ that all share has cost

  /// Takes the problem in the form that is cheapest, or in this one.
  ReadyRun(const TuneProblem& tuned, const TuneOptions& wanted, std::optional<Form> form = {})
      : method(yosida::method(wanted.method)),
        solver(method.make(wanted.settings)),
        options(solve_options(wanted)) {
    // Every λ has the same start and bounds.
    Start& start = options.start;
    start.lambda = Vector::Constant(tuned.hyperparameters(), start.lambda[0]);
    if (start.is_bounded()) start.bound(start.low[0], start.high[0]);
    problem = form ? tuned.in_form(*form, wanted.stop)
                   : tuned.bilevel(expected_iterations(options.budget, method),
                                   coordinates_of(method, *solver), wanted.stop);
    if (!problem) return;
    if (wanted.lambda_start.size() > 0) {
      start.lambda = wanted.lambda_start;
      start.clamp(start.lambda);
    } else if (!wanted.lambda0) {
      start.lambda = default_start(*problem, method.lambda0);
      start.clamp(start.lambda);
    }
    shrink(tuned, wanted);
  }

 private:
  /// Several λ of squares are drawn to the best one that all could share, and start there.
  void shrink(const TuneProblem& tuned, const TuneOptions& wanted) {
    if (tuned.hyperparameters() < 2 || tuned.weighs_rows() || tuned.data().model->penalty != PenaltyForm::l2)
      return;
    const double usual = method.name == kDefaultMethod
                             ? default_shrinkage(tuned.hyperparameters(), tuned.judging_rows())
                             : 0.0;
    const double mu = wanted.trust.shrinkage.value_or(usual);
    if (!(mu > 0.0)) return;
    const AlongLine line(*problem, Vector::Zero(tuned.hyperparameters()),
                         Vector::Ones(tuned.hyperparameters()));
    SolveOptions one;
    one.start = options.start;
    one.start.lambda = options.start.lambda.head(1);
    if (one.start.is_bounded()) one.start.bound(options.start.low[0], options.start.high[0]);
    one.stop = wanted.stop;
    one.budget.seconds = options.budget.seconds;
    const Outcome shared = solve_for_report(*yosida::method(kDefaultMethod).make({}), line, one);
    options.budget.seconds = std::max(options.budget.seconds - shared.seconds, 0.0);
    if (!(shared.best.loss.validation > 0.0) || !std::isfinite(shared.best.loss.validation)) return;
    shrinkage = mu;
    work_of_shared = shared.work;
    options.start.lambda.setConstant(shared.best.lambda[0]);
    problem = std::make_shared<const ShrunkenProblem>(problem, mu * shared.best.loss.validation);
  }
};

/// A certificate may take longer than a run that has had its time: it is given a moment.
StopToken stop_of_certificate(const Outcome& outcome, const TuneOptions& options) {
  constexpr std::chrono::milliseconds kMoment{150};
  // Clocks of processes differ: where these share rows, none is looked at.
  const bool is_short = outcome.status == StopReason::time_limit && linalg::rank_count() == 1;
  return is_short ? options.stop.with_deadline(Clock::now() + kMoment) : options.stop;
}

/// Certifies the best solution. A search ends where λ is known, and its weights may still say a loss that is
/// off by more than λ costs: those that the certificate is of, which are solved for more strictly, take their
/// place. The paper's methods keep theirs.
void add_certificate(Tuned& tuned, const ReadyRun& run, const BilevelProblem& solved,
                     const TuneOptions& options) {
  Solution &best = tuned.outcome.best, &last = tuned.outcome.final;
  const CountedProblem watched(solved, std::numeric_limits<std::int64_t>::max(),
                               stop_of_certificate(tuned.outcome, options));
  Vector trained;
  tuned.certificate =
      certify(watched, best, judged_inside(watched, tuned.start, run.method, tuned.outcome), kCertified,
              tuned.outcome.memory.get(), run.method.name == kDefaultMethod ? &trained : nullptr);
  if (trained.size() == 0 || tuned.certificate->verdict == Verdict::not_certified) return;
  const bool is_last = last.w == best.w;
  best.point = trained;
  best.w = solved.expand(trained);
  if (is_last) last = best;
}

Losses losses_of(const Report& report) {
  const auto of = [](const PartReport& part) { return part[kLoss].value_or(std::nan("")); };
  Losses losses{.train = of(report.train), .validation = of(*report.validation), .test = {}};
  if (report.test) losses.test = of(*report.test);
  return losses;
}

/// Does what is extra; a failure there must not cost the answer that is already found.
void try_extra(Tuned& tuned, const char* what, FunctionRef<void()> extra) {
  try {
    extra();
  } catch (const std::bad_alloc&) {
    tuned.warnings.push_back(fmt::format("{} could not be done: there is not enough memory", what));
  } catch (const std::exception& error) {
    tuned.warnings.push_back(fmt::format("{} could not be done: {}", what, error.what()));
  }
}

FittedModel fitted_model(const TuneProblem& problem, const TuneOptions& options, const Vector& lambda,
                         const Vector& w) {
  const Prepared& data = problem.data();
  const Dataset& train = problem.split().train;
  const Index outputs = data.loss->outputs();
  return {.model = std::string(data.model->name),
          .method = options.method,
          .lambda = {lambda.begin(), lambda.end()},
          .weights = Eigen::Map<const Matrix>(w.data(), train.features(), outputs),
          .intercept = problem.has_intercept() ? Vector(w.tail(outputs)) : Vector::Zero(outputs),
          .pretreatment = data.pretreatment,
          .features = data.features,
          .feature_names = data.feature_names,
          .target_name = train.target_name,
          .labels = data.labels,
          .table = data.table};
}

Equivalents equivalents_on(const Dataset& rows, const TuneProblem& problem, const Vector& lambda) {
  if (problem.weighs_rows()) return {};
  const Prepared& data = problem.data();
  const TrainedPenalty trained{.lambda = lambda,
                               .train = rows,
                               .intercept = problem.has_intercept(),
                               .classes = data.labels ? data.labels->classes() : 0};
  if (const SparsePenalty* const sparse = problem.sparse_penalty()) {
    if (!sparse->is_plain()) return {};
    return data.loss->is_quadratic() ? l1_equivalents(trained)
                                     : sparse_equivalents(data.model->name, trained);
  }
  return data.model->equivalents == nullptr || !problem.penalty().is_shared()
             ? Equivalents{}
             : data.model->equivalents(trained);
}

/// What the model is trained on at the end where that is training and validation rows. Weights of both parts
/// have a mean of 1; the rows of one may weigh more.
Dataset both_parts(const TuneProblem& problem) {
  const Split& split = problem.split();
  Dataset both = train_and_validation(split);
  const double validation_weight = problem.data().validation_weight;
  if (both.weight.size() == 0 && validation_weight != 1.0) both.weight = Vector::Ones(both.rows());
  if (both.weight.size() == 0) return both;
  both.weight.tail(split.validation.rows()) *= validation_weight;
  both.weight /= mean_of(both.x, both.weight);
  return both;
}

/// So is the training on all rows after folds, but a shorter one: whoever has stopped the run waits for it.
StopToken stop_of_refit(const TuneOptions& options) {
  constexpr std::chrono::milliseconds kMoment{50};
  if (linalg::rank_count() > 1) return {};
  return options.stop.was_asked() ? StopToken{}.with_deadline(Clock::now() + kMoment) : options.stop;
}

/// Weights of all rows, or those that the folds have on average where there is no time to train them.
Vector trained_on_all_rows(Tuned& tuned, const TuneProblem& problem, const TuneOptions& options,
                           const Dataset& rows) {
  const Solution& best = tuned.outcome.best;
  try {
    return problem.refit(rows, best.lambda, stop_of_refit(options));
  } catch (const RunEnded&) {
    if (!problem.always_refits()) throw;
  }
  if (problem.has_folds())
    tuned.warnings.emplace_back(
        "stopped before a model was trained on all rows: its weights are the mean of those of the folds");
  return problem.mean_of_folds(best);
}

Tuned tune_once(Rows rows, const TuneOptions& options) {
  TuneProblem problem(std::move(rows), options);
  Tuned tuned = run_method(problem, options);
  if (!options.oracle) problem.forget_forms();
  complete(tuned, problem, options);
  return tuned;
}

Tuned tune_rows(Rows rows, const TuneOptions& options) {
  verify_run(options);
  if (!options.trust.nested && !options.trust.chooses_shrinkage) return tune_once(std::move(rows), options);
  const TuneOptions chosen = with_chosen_shrinkage(rows, options);
  Tuned tuned = tune_once(rows, chosen);
  if (chosen.trust.nested) tuned.nested = nested_score(rows, options);
  return tuned;
}

/// The λ of the rule in the place of the least, with its weights and what these do.
void take_one_standard_error(Tuned& tuned, const TuneProblem& problem, const BilevelProblem& bilevel) {
  Solution& best = tuned.outcome.best;
  best.lambda.array() += tuned.trust->one_standard_error;
  bilevel.inner_solve(best.lambda, {}, best.point);
  best.w = bilevel.expand(best.point);
  tuned.best = problem.report(best);
  best.loss = losses_of(tuned.best);
}

}  // namespace

void add_trust(Tuned& tuned, const TuneProblem& problem, const TuneOptions& options) {
  const auto bilevel =
      problem.bilevel(std::numeric_limits<double>::infinity(), Coordinates::any, options.stop);
  Vector w = starting_weights(*bilevel);
  bilevel->inner_solve(tuned.lambda(), {}, w);
  tuned.trust = look_around(problem, *bilevel, tuned.lambda(), w, options.stop);
  if (options.trust.rule == Rule::minimum) return;
  tuned.outcome.best.point = w;
  take_one_standard_error(tuned, problem, *bilevel);
}

TuneOptions with_chosen_shrinkage(const Rows& rows, const TuneOptions& options) {
  TuneOptions chosen = options;
  chosen.trust.chooses_shrinkage = false;
  if (options.trust.chooses_shrinkage) chosen.trust.shrinkage = choose_shrinkage(rows, options);
  return chosen;
}

void Tuned::add_oracle(const OracleGap& gap) {
  oracle = gap;
  if (!certificate) return;
  certificate->gap = gap.gap;
  certificate->lambda_gap = gap.lambda_gap;
}

Tuned tune(Dataset rows, const TuneOptions& options) {
  return tune_rows({.train = std::move(rows)}, options);
}

Tuned tune(Split parts, const TuneOptions& options) {
  return tune_rows({.train = std::move(parts.train),
                    .validation = std::move(parts.validation),
                    .test = std::move(parts.test)},
                   options);
}

Tuned tune(const TuneProblem& problem, const TuneOptions& options) {
  Tuned tuned = run_method(problem, options);
  complete(tuned, problem, options);
  return tuned;
}

Tuned run_method(const TuneProblem& problem, const TuneOptions& options) {
  return run_method(problem, options, {});
}

Tuned run_method(const TuneProblem& problem, const TuneOptions& options,
                 const std::filesystem::path& checkpoint) {
  verify_run(options);
  if (options.oracle) problem.require_one_lambda();
  const Clock::time_point begin = Clock::now();
  Tuned tuned;
  const ReadyRun run(problem, options);
  tuned.lambda_names = problem.lambda_names();
  // Losses and reports read all rows, for which whoever stops a run waits: this is done once for each of the
  // two solutions, and the last is often the best.
  std::optional<ReplayedProblem> replayed;
  if (!checkpoint.empty())
    replayed.emplace(*run.problem, checkpoint, fmt::format("{} {}", version(), run.method.name),
                     run.options.start.lambda);
  const BilevelProblem& solved = replayed ? static_cast<const BilevelProblem&>(*replayed) : *run.problem;
  tuned.outcome = solve_for_report(*run.solver, solved, run.options);
  tuned.outcome.work += run.work_of_shared;
  if (tuned.outcome.status == StopReason::time_limit)  // the search for a λ in common has had its share of it
    tuned.outcome.message = fmt::format("reached the time limit of {} s", options.limits.seconds.value());
  tuned.shrinkage = run.shrinkage;
  tuned.start = run.options.start;
  if (tuned.outcome.status != StopReason::stopped)
    try_extra(tuned, "the certificate", [&] { add_certificate(tuned, run, solved, options); });
  Solution &best = tuned.outcome.best, &last = tuned.outcome.final;
  // Whoever has stopped the run waits for these.
  using Reported = TuneProblem::Reported;
  const Reported parts =
      tuned.outcome.status == StopReason::stopped ? Reported::judging_parts : Reported::all_parts;
  tuned.best = problem.report(best, parts);
  tuned.final = last.w == best.w ? tuned.best : problem.report(last, parts);
  best.loss = losses_of(tuned.best);
  last.loss = losses_of(tuned.final);
  if (replayed) replayed->write();
  if (replayed && !replayed->fault().empty())
    tuned.warnings.push_back(fmt::format("the checkpoint is not kept any more: {}", replayed->fault()));
  tuned.outcome.memory.reset();
  if (tuned.certificate && tuned.shrinkage > 0.0)
    tuned.certificate->reason += "; of the sum of the loss and what draws lambda together";
  if (tuned.certificate && tuned.certificate->verdict == Verdict::not_certified && problem.judges_by_rows() &&
      problem.data().loss->has_jumps())
    tuned.certificate->reason +=
        "; leave-one-out of this model jumps a little wherever a row passes a bend of its loss, and beside a "
        "jump the slope is not 0; folds do not jump";
  // A search for a stationary λ that says it has one, and the certificate does not: both cannot be.
  if (tuned.certificate && tuned.outcome.status == StopReason::converged &&
      run.method.name == kDefaultMethod && tuned.certificate->verdict == Verdict::not_certified) {
    tuned.outcome.status = StopReason::stalled;
    tuned.outcome.message = "the method's own test holds, but not to the precision of the certificate";
  }
  tuned.seconds = problem.seconds() + seconds_since(begin);
  return tuned;
}

void complete(Tuned& tuned, const TuneProblem& problem, const TuneOptions& options) {
  const Clock::time_point begin = Clock::now();
  const Split& split = problem.split();
  const Solution& best = tuned.outcome.best;
  std::optional<Vector> w;  // of the model to keep
  const bool was_stopped = tuned.outcome.status == StopReason::stopped;
  if ((options.trust.report || options.trust.rule != Rule::minimum) && !was_stopped)
    try_extra(tuned, "the look around lambda", [&] { add_trust(tuned, problem, options); });
  if (!problem.always_refits()) {
    w = best.w;
    tuned.equivalents = equivalents_on(split.train, problem, best.lambda);
  }
  // Whoever has stopped the run wants its result now.
  if (options.oracle && !was_stopped)
    try_extra(tuned, "--oracle", [&] {
      tuned.add_oracle(problem.gap(problem.oracle(tuned.start, options.stop), best, options.stop));
    });
  if (problem.always_refits() || (options.refit && !was_stopped))
    try_extra(tuned, problem.always_refits() ? "the refit on all rows" : "--refit", [&] {
      const Dataset both = problem.always_refits() ? Dataset() : both_parts(problem);
      const Dataset& rows = problem.always_refits() ? split.train : both;
      w = trained_on_all_rows(tuned, problem, options, rows);
      tuned.refit = problem.report(*w);
      tuned.refit_equivalents = equivalents_on(rows, problem, best.lambda);
    });
  if (w) tuned.model = fitted_model(problem, options, best.lambda, *w);
  tuned.seconds += seconds_since(begin);
}

void try_start(const TuneProblem& problem, const TuneOptions& options) {
  verify_run(options);
  ReadyRun run(problem, options);
  run.options.trace_every = 0;
  run.options.observers = {[](const TracePoint&) { return Watch::stop; }};  // before the first step
  solve(*run.solver, *run.problem, run.options);
}

std::vector<FormTrial> try_forms(const TuneProblem& problem, const TuneOptions& options, double most) {
  verify_run(options);
  const Method& method = yosida::method(options.method);
  const auto solver = method.make(options.settings);
  std::vector<FormTrial> trials;
  for (const FormCost& form : problem.forms(expected_iterations(solve_options(options).budget, method),
                                            coordinates_of(method, *solver))) {
    FormTrial trial{.form = form.form, .expected = form.seconds, .seconds = {}};
    if (trials.empty() || form.seconds <= most) {
      const Clock::time_point begin = Clock::now();
      const ReadyRun run(problem, options, form.form);
      trial.is_exact = run.problem != nullptr;
      if (run.problem) solve(*run.solver, *run.problem, run.options);
      trial.seconds = seconds_since(begin);
    }
    trials.push_back(trial);
  }
  return trials;
}

Oracle find_oracle(const TuneProblem& problem, const TuneOptions& options) {
  verify_run(options);
  return problem.oracle(solve_options(options).start, options.stop);
}

}  // namespace yosida
