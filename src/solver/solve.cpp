#include "yosida/solver/solve.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "problem/counted_problem.hpp"
#include "yosida/error.hpp"

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
    work();
    seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0.0;
};

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
  Solution solution(const BilevelProblem& problem) const {
    return {.lambda = lambda,
            .w = problem.expand(w),
            .point = w,
            .loss = problem.losses(w),
            .iteration = iteration};
  }
};

/// A residual may be missing (NaN), but not infinite.
bool is_usable(const Iterate& iterate) {
  return !iterate.failed && iterate.lambda.allFinite() && iterate.w.allFinite() &&
         !std::isinf(iterate.primal_residual) && !std::isinf(iterate.dual_residual);
}

Losses validation_only(double value) {
  Losses losses;
  losses.validation = value;
  return losses;
}

double validation_loss_of_zero(const BilevelProblem& problem) {
  Vector zero = Vector::Zero(problem.weights());
  problem.fit_intercept(zero);
  return problem.validation_loss(zero);
}

std::string sentence(const Outcome& outcome, const Budget& budget, bool non_finite, bool flat_response) {
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
          : non_finite
              ? fmt::format("iteration {} is not finite: the run diverged", outcome.iterations + 1)
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

/// One run, from the start of the solver to its outcome.
class Loop {
 public:
  Loop(const Solver& solver, const BilevelProblem& problem, const SolveOptions& options)
      : problem_(problem), options_(options), counted_(problem, options.budget.gradients) {
    loss_of_zero_ = validation_loss_of_zero(problem);
    if (!std::isfinite(loss_of_zero_))
      throw InputError(fmt::format(
          "the validation loss of w = 0 is {}: must be finite; the targets are too large", loss_of_zero_));
    try {
      Start start = options.start;
      start.budget = options.budget;
      clock_.time([&] { run_ = solver.start(counted_, start); });
    } catch (const BudgetSpent&) {
      throw InputError(
          fmt::format("budget of {} gradient computations: too small for the start of this method",
                      options.budget.gradients));
    }
    const double first = problem.validation_loss(run_->iterate().w);
    if (!std::isfinite(first))
      throw InputError(
          fmt::format("lambda0 = {}: the validation loss of the first iterate is {}: must be finite",
                      options.start.lambda[0], first));
    watch(first);
  }

  Outcome run() {
    while (!ended()) {
      try {
        clock_.time([&] { run_->step(); });
      } catch (const BudgetSpent&) {  // the step is not whole: the last iterate stands
        outcome_.status = StopReason::work_limit;
        break;
      }
      const double validation =
          is_usable(run_->iterate()) ? problem_.validation_loss(run_->iterate().w) : std::nan("");
      if (!std::isfinite(validation)) {
        outcome_.status = StopReason::diverged;
        non_finite_ = true;
        break;
      }
      ++outcome_.iterations;
      watch(validation);
    }
    return finished();
  }

 private:
  /// Whether a limit is met, or the solver or an observer has had enough; sets the status.
  bool ended() {
    const Budget& budget = options_.budget;
    if (run_->iterate().converged) {
      outcome_.status = StopReason::converged;
    } else if (run_->iterate().stalled) {
      outcome_.status = StopReason::stalled;
    } else if (stop_asked_) {
      outcome_.status = StopReason::stopped;
    } else if (outcome_.iterations >= budget.iterations) {
      outcome_.status = StopReason::iteration_limit;
    } else if (run_->iterate().exhausted) {
      outcome_.status = StopReason::exhausted;
    } else if (counted_.work().paper_count() >= budget.gradients) {
      outcome_.status = StopReason::work_limit;
    } else if (clock_.seconds() >= budget.seconds) {
      outcome_.status = StopReason::time_limit;
    } else {
      return false;
    }
    return true;
  }

  /// Takes note of the iterate: the last, perhaps the best, perhaps a point of the trace.
  void watch(double validation) {
    const Iterate& iterate = run_->iterate();
    last_.take(iterate, validation, outcome_.iterations);
    if (validation < best_.validation || best_is_untrained_) {
      best_.take(iterate, validation, outcome_.iterations);
      best_is_untrained_ = iterate.untrained;
    }
    outcome_.primal_residual = iterate.primal_residual;
    outcome_.dual_residual = iterate.dual_residual;
    outcome_.skipped_steps = iterate.skipped_steps;
    outcome_.inexact_solves = iterate.inexact_solves;
    outcome_.failed_trials = iterate.failed_trials;
    flat_response_ = iterate.flat_response;
    last_work_ = counted_.work();
    last_seconds_ = clock_.seconds();
    const bool keep = options_.trace_every > 0 && (outcome_.iterations < options_.trace_every ||
                                                   outcome_.iterations % options_.trace_every == 0);
    if (!keep && options_.observers.empty()) return;
    TracePoint point = last_point(keep ? problem_.losses(iterate.w) : validation_only(validation));
    for (const Observer& observer : options_.observers) stop_asked_ |= observer(point) == Watch::stop;
    if (keep) outcome_.trace.push_back(std::move(point));
  }

  TracePoint last_point(const Losses& losses) const {
    return {.iteration = outcome_.iterations,
            .lambda = last_.lambda,
            .loss = losses,
            .primal_residual = outcome_.primal_residual,
            .dual_residual = outcome_.dual_residual,
            .work = last_work_,
            .seconds = last_seconds_,
            .tried = run_->iterate().tried,
            .tried_validation = run_->iterate().tried_validation};
  }

  Outcome finished() {
    if (outcome_.has_only_failed_trials()) outcome_.status = StopReason::diverged;
    // A loss of 0 at w = 0 leaves nothing to compare with.
    if (loss_of_zero_ > 0.0 && last_.validation > kDivergedFactor * loss_of_zero_)
      outcome_.status = StopReason::diverged;
    if (outcome_.status != StopReason::diverged && run_->iterate().final_is_best) best_ = last_;
    outcome_.best = best_.solution(problem_);
    outcome_.final = last_.solution(problem_);
    if (options_.trace_every > 0 && outcome_.trace.back().iteration != outcome_.iterations)
      outcome_.trace.push_back(last_point(outcome_.final.loss));
    outcome_.work = counted_.work();
    outcome_.seconds = clock_.seconds();
    outcome_.message = sentence(outcome_, options_.budget, non_finite_, flat_response_);
    outcome_.low = run_->iterate().low;
    outcome_.high = run_->iterate().high;
    return std::move(outcome_);
  }

  const BilevelProblem& problem_;
  const SolveOptions& options_;
  CountedProblem counted_;
  std::unique_ptr<Run> run_;
  Stopwatch clock_;
  Snapshot best_;
  Snapshot last_;
  Work last_work_;
  double last_seconds_ = 0.0;
  double loss_of_zero_ = 0.0;
  bool stop_asked_ = false;
  bool non_finite_ = false;
  bool flat_response_ = false;
  bool best_is_untrained_ = false;
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
  check(options, problem);
  return Loop(solver, problem, options).run();
}

}  // namespace yosida
