#include "yosida/solver/solve.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "linalg/ranks.hpp"
#include "problem/counted_problem.hpp"
#include "solver/solve_for_report.hpp"
#include "yosida/error.hpp"
#include "yosida/solver/bounds.hpp"

namespace yosida {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kDivergedFactor = 10.0;

/// Seconds of the solver's own work: watching is off the clock.
class Stopwatch {
 public:
  template <typename F>
  void time(F&& work) {
    const Clock::time_point begin = Clock::now();
    const auto add = [&] { seconds_ += std::chrono::duration<double>(Clock::now() - begin).count(); };
    try {
      work();
    } catch (...) {  // a step that is dropped has taken its time
      add();
      throw;
    }
    add();
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0.0;
};

Losses validation_only(double value) {
  Losses losses;
  losses.validation = value;
  return losses;
}

/// A finite iterate, in the problem's own coordinates.
struct Snapshot {
  Vector lambda;
  Vector w;
  double validation = std::numeric_limits<double>::infinity();
  std::int64_t iteration = 0;

  void take(const Iterate& iterate, double loss, std::int64_t at) {
    lambda = iterate.lambda;
    w = iterate.w;
    validation = loss;
    iteration = at;
  }
  Solution solution(const BilevelProblem& problem, bool reads_losses) const {
    return {.lambda = lambda,
            .w = problem.expand(w),
            .point = w,
            .loss = reads_losses ? problem.losses(w, lambda) : validation_only(validation),
            .iteration = iteration};
  }
};

/// A residual may be missing (NaN), but not infinite.
bool is_usable(const Iterate& iterate) {
  return iterate.status != SolverStatus::failed && iterate.lambda.allFinite() && iterate.w.allFinite() &&
         !std::isinf(iterate.primal_residual) && !std::isinf(iterate.dual_residual);
}

StopReason stop_reason(const RunEnded& ended) {
  switch (ended.reason()) {
    case RunEnded::Reason::work_limit:
      return StopReason::work_limit;
    case RunEnded::Reason::time_limit:
      return StopReason::time_limit;
    case RunEnded::Reason::stopped:
      break;
  }
  return StopReason::stopped;
}

/// A run that was stopped before it could begin: its one iterate is the start.
class NotBegun final : public Run {
 public:
  NotBegun(const BilevelProblem& problem, const Start& start) {
    start_.w = starting_weights(problem);
    start_.lambda = start.lambda;
    start_.status = SolverStatus::untrained;
  }
  void step() override {}
  const Iterate& iterate() const override { return start_; }

 private:
  Iterate start_;
};

/// `not_finite`: what was not, where that has ended the run; else empty.
std::string sentence(const Outcome& outcome, const Budget& budget, const std::string& not_finite,
                     bool flat_response) {
  std::string text;
  switch (outcome.status) {
    case StopReason::converged:
      text = "the method's own test holds";
      break;
    case StopReason::stalled:
      text = "no further progress can be seen at working precision";
      break;
    case StopReason::iteration_limit:
      text = fmt::format("reached the limit of {} iterations", budget.iterations);
      break;
    case StopReason::work_limit:
      text = fmt::format("reached the budget of {} gradient computations", budget.gradients);
      break;
    case StopReason::time_limit:
      text = fmt::format("reached the time limit of {} s", budget.seconds);
      break;
    case StopReason::diverged:
      text =
          outcome.has_only_failed_trials() ? std::string("no trial gave a finite loss: the run diverged")
          : !not_finite.empty()
              ? fmt::format("{} not finite: the run diverged", not_finite)
              : std::string("the run ended with a validation loss over 10 times that of w = 0: it diverged");
      text += "; the best finite iterate is reported. Smaller steps may help";
      break;
    case StopReason::exhausted:
      text = outcome.iterations == 1 ? "the one trial is done"
                                     : fmt::format("all {} trials are done", outcome.iterations);
      break;
    case StopReason::stopped:
      text = "stopped by the caller";
      break;
  }
  if (outcome.skipped_steps > 0)
    text += fmt::format("; backtracking skipped {} steps", outcome.skipped_steps);
  if (outcome.inexact_solves > 0)
    text += fmt::format("; {} inner problems were not solved to their tolerance", outcome.inexact_solves);
  if (outcome.failed_trials > 0)
    text += fmt::format("; {} of {} trials gave no finite loss", outcome.failed_trials, outcome.iterations);
  if (flat_response) text += "; the response lost its slope (all weights equal), so lambda could not move";
  return text;
}

void check(const SolveOptions& options, const BilevelProblem& problem) {
  if (options.start.lambda.size() != problem.hyperparameters())
    throw InputError(fmt::format("lambda0 has {} values: the problem has {} hyperparameters",
                                 options.start.lambda.size(), problem.hyperparameters()));
  const Start& start = options.start;
  if (start.low.size() != start.high.size() ||
      (start.is_bounded() && start.low.size() != start.lambda.size()))
    throw InputError(fmt::format("bounds: {} lower and {} upper for {} hyperparameters", start.low.size(),
                                 start.high.size(), start.lambda.size()));
  if (!(options.budget.seconds >= 0.0))
    throw InputError(fmt::format("budget.seconds = {}: must be >= 0", options.budget.seconds));
  if (options.trace_every < 0)
    throw InputError(fmt::format("trace_every = {}: must be >= 0", options.trace_every));
  for (Index j = 0; j < start.lambda.size(); ++j) {
    const double value = start.lambda[j];
    if (!std::isfinite(value)) throw InputError(fmt::format("lambda0 = {}: must be finite", value));
    if (!start.is_bounded()) continue;
    if (!(start.low[j] < start.high[j]))
      throw InputError(
          fmt::format("bounds = {},{}: the lower must be below the upper", start.low[j], start.high[j]));
    if (value < start.low[j] || value > start.high[j])
      throw InputError(
          fmt::format("lambda0 = {}: must be inside the bounds {},{}", value, start.low[j], start.high[j]));
  }
}

/// Adds a start and a limit where the caller gives none.
SolveOptions completed(SolveOptions options, const Solver& solver, const BilevelProblem& problem) {
  if (options.start.lambda.size() == 0) {
    options.start.lambda = default_start(problem);
    if (options.start.low.size() == options.start.lambda.size() &&
        options.start.high.size() == options.start.lambda.size())
      options.start.clamp(options.start.lambda);
  }
  const Budget none;
  Budget& budget = options.budget;
  if (budget.iterations == none.iterations && budget.gradients == none.gradients &&
      budget.seconds == none.seconds)
    budget.iterations = solver.default_iterations();
  return options;
}

/// One run, from the start of the solver to its outcome.
class Loop {
 public:
  Loop(const Solver& solver, const BilevelProblem& problem, const SolveOptions& options, bool reads_losses)
      : problem_(problem),
        options_(options),
        reads_losses_(reads_losses || options.trace_every > 0),
        counted_(problem, options.budget.gradients),
        last_is_answer_(solver.last_is_answer()),
        trains_answer_(solver.trains_answer()) {
    const Vector& lambda = options.start.lambda;
    needs_optimum_ = problem.traits().validation_needs_optimum;
    if (!needs_optimum_) loss_of_zero_ = problem.validation_loss(starting_weights(problem), lambda);
    if (!std::isfinite(loss_of_zero_))
      throw InputError(
          fmt::format("the validation loss of {} is {}: must be finite; numbers that are too large overflow",
                      problem.traits().start.size() > 0 ? "the start" : "w = 0", loss_of_zero_));
    try {
      Start start = options.start;
      start.budget = options.budget;
      within_limits([&] { run_ = solver.start(counted_, start); });
    } catch (const RunEnded& ended) {
      if (ended.reason() == RunEnded::Reason::work_limit)
        throw InputError(
            fmt::format("budget of {} gradient computations: too small for the start of this method",
                        options.budget.gradients));
      run_ = std::make_unique<NotBegun>(problem, options.start);
      end_by(ended);
    }
    const double first = validation_of(run_->iterate());
    if (!std::isfinite(first) && !needs_optimum_)
      throw InputError(
          fmt::format("lambda0 = {}: the validation loss of the first iterate is {}: must be finite",
                      options.start.lambda[0], first));
    watch(first);
  }

  Outcome run() {
    while (!ended()) {
      try {
        within_limits([&] { run_->step(); });
      } catch (const RunEnded& ended) {  // the step is not whole: the last iterate stands
        end_by(ended);
        break;
      }
      const double validation = is_usable(run_->iterate()) ? validation_of(run_->iterate()) : std::nan("");
      if (!std::isfinite(validation)) {
        outcome_.status = StopReason::diverged;
        not_finite_ = fmt::format("iteration {} is", outcome_.iterations + 1);
        break;
      }
      ++outcome_.iterations;
      watch(validation);
    }
    return finished();
  }

 private:
  double validation_of(const Iterate& iterate) const {
    return counted_.watched_validation(iterate.w, iterate.lambda);
  }

  /// Does a part of the run, on the clock; it throws RunEnded where its time is over.
  template <typename F>
  void within_limits(F&& work) {
    StopToken stop = options_.stop;
    // Processes that share rows look at the clock between steps, together.
    if (std::isfinite(options_.budget.seconds) && linalg::rank_count() == 1) {
      constexpr double kLongest = 1e9;  // seconds; more would overflow the clock
      const std::chrono::duration<double> left(
          std::min(options_.budget.seconds - clock_.seconds(), kLongest));
      stop = stop.with_deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(left));
    }
    counted_.stop_by(std::move(stop));
    clock_.time(std::forward<F>(work));
  }

  void end_by(const RunEnded& ended) {
    outcome_.status = stop_reason(ended);
    was_ended_ = true;
  }

  /// Whether a limit is met, or the solver or an observer has had enough; sets the status.
  bool ended() {
    const Budget& budget = options_.budget;
    if (was_ended_) return true;
    const SolverStatus own = run_->iterate().status;
    if (own == SolverStatus::converged) {
      outcome_.status = StopReason::converged;
    } else if (own == SolverStatus::stalled) {
      end_stalled();
    } else if (linalg::any_rank(stop_asked_) || options_.stop.stop_requested()) {
      outcome_.status = StopReason::stopped;
    } else if (outcome_.iterations >= budget.iterations) {
      outcome_.status = StopReason::iteration_limit;
    } else if (own == SolverStatus::exhausted) {
      outcome_.status = StopReason::exhausted;
    } else if (counted_.work().paper_count() >= budget.gradients) {
      outcome_.status = StopReason::work_limit;
    } else if (std::isfinite(budget.seconds) && linalg::any_rank(clock_.seconds() >= budget.seconds)) {
      outcome_.status = StopReason::time_limit;
    } else {
      return false;
    }
    return true;
  }

  /// A search that takes what is not finite for a bad λ comes to no progress where all is: it diverged.
  void end_stalled() {
    Vector g(problem_.weights());
    const auto check = [&](const char* name) {
      if (not_finite_.empty() && !g.allFinite())
        not_finite_ = fmt::format("the {} of the last iterate is", name);
    };
    problem_.train_gradient(last_.w, last_.lambda, g);
    check("training gradient");
    problem_.validation_gradient(last_.w, last_.lambda, g);
    check("gradient of the validation loss");
    outcome_.status = not_finite_.empty() ? StopReason::stalled : StopReason::diverged;
  }

  /// Takes note of the iterate: the last, perhaps the best, perhaps a point of the trace.
  void watch(double validation) {
    const Iterate& iterate = run_->iterate();
    last_.take(iterate, validation, outcome_.iterations);
    if (validation < best_.validation || best_is_untrained_) {
      best_.take(iterate, validation, outcome_.iterations);
      best_is_untrained_ =
          iterate.status == SolverStatus::untrained || (needs_optimum_ && outcome_.iterations == 0);
    }
    outcome_.primal_residual = iterate.primal_residual;
    outcome_.dual_residual = iterate.dual_residual;
    outcome_.skipped_steps = iterate.skipped_steps;
    outcome_.inexact_solves = iterate.inexact_solves;
    if (iterate.trial && !std::isfinite(iterate.trial->validation)) ++outcome_.failed_trials;
    flat_response_ = iterate.has_flat_response;
    last_work_ = counted_.work();
    last_seconds_ = clock_.seconds();
    const bool keep = options_.trace_every > 0 && (outcome_.iterations < options_.trace_every ||
                                                   outcome_.iterations % options_.trace_every == 0);
    if (!keep && options_.observers.empty()) return;
    TracePoint point =
        last_point(keep ? problem_.losses(iterate.w, iterate.lambda) : validation_only(validation));
    for (const Observer& observer : options_.observers) stop_asked_ |= observer(point) == Watch::stop;
    if (keep) outcome_.trace.push_back(std::move(point));
  }

  TracePoint last_point(const Losses& losses) const {
    TracePoint point{.iteration = outcome_.iterations,
                     .lambda = last_.lambda,
                     .loss = losses,
                     .primal_residual = outcome_.primal_residual,
                     .dual_residual = outcome_.dual_residual,
                     .work = last_work_,
                     .seconds = last_seconds_};
    point.share_done = run_->iterate().share_done;
    if (const auto& trial = run_->iterate().trial) {
      point.tried = trial->lambda;
      point.tried_validation = trial->validation;
    }
    return point;
  }

  /// The answer is the last λ, with weights that are trained at it; the last iterate as it is where the run
  /// has no time for that, or that gives no finite loss.
  bool train_answer() {
    if (outcome_.iterations == 0 || outcome_.status == StopReason::stopped ||
        outcome_.status == StopReason::time_limit)
      return false;
    Vector w = last_.w;
    InnerOptions options;
    options.stop = &options_.stop;
    if (!problem_.inner_solve(last_.lambda, options, w).converged && options_.stop.stop_requested())
      return false;
    const double validation = w.allFinite() ? problem_.validation_loss(w, last_.lambda) : std::nan("");
    if (!std::isfinite(validation)) return false;
    best_ = last_;
    best_.w = std::move(w);
    best_.validation = validation;
    return true;
  }

  Outcome finished() {
    if (outcome_.has_only_failed_trials()) outcome_.status = StopReason::diverged;
    // A loss of 0 at w = 0 leaves nothing to compare with.
    if (loss_of_zero_ > 0.0 && last_.validation > kDivergedFactor * loss_of_zero_)
      outcome_.status = StopReason::diverged;
    if (outcome_.status != StopReason::diverged && last_is_answer_) best_ = last_;
    const bool is_trained = trains_answer_ && train_answer();
    outcome_.best = best_.solution(problem_, reads_losses_);
    // Losses read all rows, and whoever stops a run waits for them.
    outcome_.final = last_.iteration == best_.iteration && !is_trained
                         ? outcome_.best
                         : last_.solution(problem_, reads_losses_);
    if (options_.trace_every > 0 && outcome_.trace.back().iteration != outcome_.iterations)
      outcome_.trace.push_back(last_point(outcome_.final.loss));
    outcome_.work = counted_.work();
    outcome_.seconds = clock_.seconds();
    outcome_.message = sentence(outcome_, options_.budget, not_finite_, flat_response_);
    outcome_.low = run_->iterate().low;
    outcome_.high = run_->iterate().high;
    outcome_.memory = run_->iterate().memory;
    return std::move(outcome_);
  }

  const BilevelProblem& problem_;
  const SolveOptions& options_;
  bool reads_losses_;
  CountedProblem counted_;
  bool last_is_answer_;
  bool trains_answer_;
  std::unique_ptr<Run> run_;
  Stopwatch clock_;
  Snapshot best_;
  Snapshot last_;
  Work last_work_;
  double last_seconds_ = 0.0;
  double loss_of_zero_ = 0.0;
  bool stop_asked_ = false;
  std::string not_finite_;
  bool flat_response_ = false;
  bool best_is_untrained_ = false;
  bool needs_optimum_ = false;
  bool was_ended_ = false;
  Outcome outcome_;
};

}  // namespace

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::converged:
      return "converged";
    case StopReason::stalled:
      return "stalled";
    case StopReason::iteration_limit:
      return "iteration_limit";
    case StopReason::work_limit:
      return "work_limit";
    case StopReason::time_limit:
      return "time_limit";
    case StopReason::diverged:
      return "diverged";
    case StopReason::exhausted:
      return "exhausted";
    case StopReason::stopped:
      return "stopped";
  }
  return "unknown";
}

Outcome solve(const Solver& solver, const BilevelProblem& problem, const SolveOptions& options) {
  const SolveOptions all = completed(options, solver, problem);
  check(all, problem);
  return Loop(solver, problem, all, true).run();
}

Outcome solve_for_report(const Solver& solver, const BilevelProblem& problem, const SolveOptions& options) {
  const SolveOptions all = completed(options, solver, problem);
  check(all, problem);
  return Loop(solver, problem, all, false).run();
}

}  // namespace yosida
