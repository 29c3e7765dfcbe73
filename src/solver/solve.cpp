#include "yosida/solver/solve.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "yosida/error.hpp"
#include "yosida/problem/counted_problem.hpp"

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
    return {.lambda = lambda, .w = problem.expand(w), .loss = problem.losses(w), .iteration = iteration};
  }
};

/// A residual may be missing (NaN), but not infinite.
bool is_finite(const Iterate& iterate) {
  return iterate.lambda.allFinite() && iterate.w.allFinite() && !std::isinf(iterate.primal_residual) &&
         !std::isinf(iterate.dual_residual);
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
      text = "the solver's convergence test holds";
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
          non_finite
              ? fmt::format("iteration {} is not finite: the run diverged", outcome.iterations + 1)
              : std::string("the run ended with a validation loss over 10 times that of w = 0: it diverged");
      text += "; the best finite iterate is reported. Smaller steps or my-hpo-bt may help";
      break;
    case StopReason::stopped:
      text = "stopped by the caller";
      break;
  }
  if (outcome.skipped_steps > 0)
    text += fmt::format("; backtracking skipped {} steps", outcome.skipped_steps);
  if (flat_response) text += "; the response lost its slope (all weights equal), so lambda could not move";
  return text;
}

void check(const SolveOptions& options, const BilevelProblem& problem) {
  if (options.start.lambda.size() != problem.hyperparameters())
    throw InputError(fmt::format("lambda0 has {} values: the problem has {} hyperparameters",
                                 options.start.lambda.size(), problem.hyperparameters()));
  if (!options.start.lambda.allFinite()) throw InputError("lambda0 must be finite");
  if (!(options.start.low < options.start.high))
    throw InputError(fmt::format("bounds = {},{}: the lower must be below the upper", options.start.low,
                                 options.start.high));
  for (const double value : options.start.lambda)
    if (value < options.start.low || value > options.start.high)
      throw InputError(fmt::format("lambda0 = {}: must be inside the bounds {},{}", value, options.start.low,
                                   options.start.high));
}

}  // namespace

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::converged:
      return "converged";
    case StopReason::iteration_limit:
      return "iteration_limit";
    case StopReason::work_limit:
      return "work_limit";
    case StopReason::time_limit:
      return "time_limit";
    case StopReason::diverged:
      return "diverged";
    case StopReason::stopped:
      return "stopped";
  }
  return "unknown";
}

Outcome solve(const Solver& solver, const BilevelProblem& problem, const SolveOptions& options) {
  check(options, problem);
  const CountedProblem counted(problem, options.budget.gradients);
  const double diverged_above = kDivergedFactor * validation_loss_of_zero(problem);
  if (!std::isfinite(diverged_above)) throw InputError("the validation loss of w = 0 must be finite: scale the targets");
  Outcome outcome;
  Stopwatch clock;
  Snapshot best;
  Snapshot last;
  std::unique_ptr<Run> run;
  bool stop_asked = false;
  bool non_finite = false;

  const auto watch = [&](double validation) {
    const Iterate& iterate = run->iterate();
    last.take(iterate, validation, outcome.iterations);
    if (validation < best.validation) best.take(iterate, validation, outcome.iterations);
    outcome.primal_residual = iterate.primal_residual;
    outcome.dual_residual = iterate.dual_residual;
    outcome.skipped_steps = iterate.skipped_steps;
    const bool keep = options.trace_every > 0 && outcome.iterations % options.trace_every == 0;
    if (!keep && options.observers.empty()) return;
    TracePoint point{.iteration = outcome.iterations,
                     .lambda = iterate.lambda,
                     .loss = keep ? problem.losses(iterate.w) : validation_only(validation),
                     .primal_residual = iterate.primal_residual,
                     .dual_residual = iterate.dual_residual,
                     .work = counted.work(),
                     .seconds = clock.seconds()};
    for (const Observer& observer : options.observers) stop_asked |= observer(point) == Watch::stop;
    if (keep) outcome.trace.push_back(std::move(point));
  };

  clock.time([&] { run = solver.start(counted, options.start); });
  watch(problem.validation_loss(run->iterate().w));
  while (true) {
    if (run->iterate().converged) {
      outcome.status = StopReason::converged;
    } else if (stop_asked) {
      outcome.status = StopReason::stopped;
    } else if (outcome.iterations >= options.budget.iterations) {
      outcome.status = StopReason::iteration_limit;
    } else if (clock.seconds() >= options.budget.seconds) {
      outcome.status = StopReason::time_limit;
    } else {
      try {
        clock.time([&] { run->step(); });
      } catch (const BudgetSpent&) {  // the step is not whole: the last iterate stands
        outcome.status = StopReason::work_limit;
        break;
      }
      const double validation =
          is_finite(run->iterate()) ? problem.validation_loss(run->iterate().w) : std::nan("");
      if (std::isfinite(validation)) {
        ++outcome.iterations;
        watch(validation);
        continue;
      }
      outcome.status = StopReason::diverged;
      non_finite = true;
    }
    break;
  }

  if (last.validation > diverged_above) outcome.status = StopReason::diverged;
  outcome.best = best.solution(problem);
  outcome.final = last.solution(problem);
  outcome.work = counted.work();
  outcome.seconds = clock.seconds();
  outcome.message = sentence(outcome, options.budget, non_finite, run->iterate().flat_response);
  return outcome;
}

}  // namespace yosida
