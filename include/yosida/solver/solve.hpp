#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/problem/bilevel_problem.hpp"
#include "yosida/settings.hpp"
#include "yosida/solver/iterate.hpp"

namespace YOSIDA_EXPORT yosida {

/// Why a run ended. Each test stands beside its name.
enum class StopReason {
  converged,        ///< the solver's own test: for MY-HPO ‖r‖ and ‖s‖ ≤ ε × the size of w
  stalled,          ///< that test does not hold, and no step can be seen to bring it nearer
  iteration_limit,  ///< iterations ≥ Budget::iterations
  work_limit,       ///< the next step would bring paper_count above Budget::gradients
  time_limit,       ///< seconds ≥ Budget::seconds; a step under way then is dropped
  diverged,         ///< an iterate or its L_V is not finite, or the final L_V > 10 × L_V(w = 0)
  exhausted,        ///< nothing is left to try: trials ≥ those asked for, or a grid is done
  stopped,          ///< an observer or SolveOptions::stop said so
};
std::string_view to_string(StopReason reason);

/// One line of a trace. Losses are data terms at the w a solver would return.
struct TracePoint {
  std::int64_t iteration = 0;
  Vector lambda;
  Losses loss;  ///< train and test only where the trace was asked to hold them
  double primal_residual = 0.0;
  double dual_residual = 0.0;
  Work work;
  double seconds = 0.0;
  Vector tried = {};  ///< of a black-box search: the λ of this trial, while `lambda` is that of the best;
                      ///< empty elsewhere
  double tried_validation = std::numeric_limits<double>::quiet_NaN();  ///< NaN where the trial failed
  double share_done = std::numeric_limits<double>::quiet_NaN();        ///< Iterate::share_done
};
/// The points of a run that are kept, in their order.
using Trace = std::vector<TracePoint>;

/// What an observer says.
enum class Watch { go_on, stop };
/// Called after every iteration, in the thread that called solve(); watching changes nothing but may end the
/// run.
using Observer = std::function<Watch(const TracePoint&)>;

/// Where a run starts, what it may cost, and who watches it.
struct SolveOptions {
  Start start;    ///< its budget is filled in by solve(); an empty λ is that of default_start()
  Budget budget;  ///< where it limits nothing, the method's own number of iterations does
  /// Reaches inner and linear solves: where it says stop, the step under way is dropped.
  StopToken stop;
  std::vector<Observer> observers;
  /// Keep every so many-th point in Outcome::trace, all before the first of these, and the last; 0: none.
  std::int64_t trace_every = 0;
};

/// An iterate with its losses.
struct Solution {
  Vector lambda;
  Vector w;      ///< one weight per feature (and output), the intercepts last
  Vector point;  ///< the same in the problem's own coordinates
  Losses loss;
  std::int64_t iteration = 0;
};

/// How a run has ended, with its best and its last iterate.
struct Outcome {
  StopReason status = StopReason::stopped;
  std::string message;  ///< the status in a sentence
  Solution best;        ///< the finite iterate of the smallest L_V, or what the solver says is its answer
  Solution final;       ///< the last finite one
  Work work;
  double primal_residual = 0.0;
  double dual_residual = 0.0;
  std::int64_t iterations = 0;
  std::int64_t skipped_steps = 0;   ///< that backtracking gave up on
  std::int64_t inexact_solves = 0;  ///< inner problems not solved to their tolerance
  std::int64_t failed_trials = 0;   ///< of a black-box search, that gave no finite loss
  double seconds = 0.0;             ///< of the solver; watching is off the clock
  Vector low = {}, high = {};       ///< the bounds that λ was kept in; empty where there were none
  Trace trace;
  /// What the solver's inner solves have kept, for a certificate of the answer.
  std::shared_ptr<SolveMemory> memory = {};

  bool has_only_failed_trials() const { return failed_trials > 0 && failed_trials == iterations; }
};

/// A run under way: the state of one solver on one problem. May be used by one thread at a time.
class Run {
 public:
  virtual ~Run() = default;
  virtual void step() = 0;
  virtual const Iterate& iterate() const = 0;
};

/// A solver with its settings. Const: all that changes is in the Run, so that several threads may start runs
/// of one solver at a time, on one problem or on several.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::unique_ptr<Run> start(const BilevelProblem& problem, const Start& start) const = 0;
  /// True where iterates never leave the span of the training rows and the vector of ones, so that a
  /// collapsed problem serves as well as the problem itself.
  virtual bool stays_in_row_space() const = 0;
  /// True where the last iterate is the answer, though an earlier one, solved less exactly, may have had a
  /// lower L_V. Elsewhere the answer is the iterate of the lowest L_V.
  virtual bool last_is_answer() const { return false; }
  /// True where w moves beside λ and is not w*(λ): L_V(w) then says little of λ, so the answer is the last λ
  /// with weights that are trained at it, once, off the clock and uncounted. Outcome::final has its own w.
  virtual bool trains_answer() const { return false; }
  /// After which a run ends where its budget limits nothing.
  virtual std::int64_t default_iterations() const { return kDefaultIterations; }
  static constexpr std::int64_t kDefaultIterations = 2500;
};

/// An algorithm is a struct with a name, Settings and their table, State (derived from Iterate), init and
/// step; `static constexpr std::int64_t default_iterations` where that is not Solver::kDefaultIterations, and
/// `bool last_is_answer() const` or `bool trains_answer() const` where that may be true.
template <typename A>
concept Algorithm = requires(const A algorithm, const BilevelProblem& problem, const Start& start,
                             typename A::State& state) {
  { A::name } -> std::convertible_to<std::string_view>;
  { A::table() } -> std::convertible_to<std::vector<Setting<typename A::Settings>>>;
  { algorithm.settings } -> std::convertible_to<typename A::Settings>;
  { algorithm.stays_in_row_space() } -> std::same_as<bool>;
  { algorithm.init(problem, start) } -> std::same_as<typename A::State>;
  { algorithm.step(problem, state) } -> std::same_as<void>;
  requires std::derived_from<typename A::State, Iterate>;
};

/// How many iterations an algorithm makes where nobody says: its own default_iterations, or that of solvers.
template <typename A>
constexpr std::int64_t default_iterations_of() {
  if constexpr (requires { A::default_iterations; })
    return A::default_iterations;
  else
    return Solver::kDefaultIterations;
}

/// Makes a Solver of an algorithm.
template <Algorithm A>
class AlgorithmSolver final : public Solver {
 public:
  /// Throws InputError where a setting breaks its rule.
  explicit AlgorithmSolver(A algorithm) : algorithm_(std::move(algorithm)) {
    settings::verify(A::name, A::table(), algorithm_.settings);
  }
  bool stays_in_row_space() const override { return algorithm_.stays_in_row_space(); }
  bool last_is_answer() const override {
    if constexpr (requires { algorithm_.last_is_answer(); })
      return algorithm_.last_is_answer();
    else
      return false;
  }
  bool trains_answer() const override {
    if constexpr (requires { algorithm_.trains_answer(); })
      return algorithm_.trains_answer();
    else
      return false;
  }
  std::int64_t default_iterations() const override { return default_iterations_of<A>(); }
  std::unique_ptr<Run> start(const BilevelProblem& problem, const Start& start) const override {
    return std::make_unique<AlgorithmRun>(algorithm_, problem, start);
  }

 private:
  class AlgorithmRun final : public Run {
   public:
    AlgorithmRun(const A& algorithm, const BilevelProblem& problem, const Start& start)
        : algorithm_(algorithm), problem_(problem), state_(algorithm.init(problem, start)) {}
    void step() override { algorithm_.step(problem_, state_); }
    const Iterate& iterate() const override { return state_; }

   private:
    const A& algorithm_;
    const BilevelProblem& problem_;
    typename A::State state_;
  };

  A algorithm_;
};

/// The only outer loop: steps, limits, divergence, the best iterate, the trace. Throws InputError, naming
/// field, value and rule, before the first step; what happens later is a StopReason. May be called from
/// several threads at a time, with the same solver and problem, which must outlive it.
Outcome solve(const Solver& solver, const BilevelProblem& problem, const SolveOptions& options);

/// Runs solve() with an algorithm and its settings.
template <Algorithm A>
Outcome solve(const A& algorithm, const BilevelProblem& problem, const SolveOptions& options) {
  return solve(AlgorithmSolver<A>(algorithm), problem, options);
}

}  // namespace yosida
