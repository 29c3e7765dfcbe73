#include "yosida/solver/f2sa.hpp"

#include <algorithm>
#include <cmath>

#include "solver/beside_lambda.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida {
namespace {

/// What steps and the growth of μ shrink by, as benchmark_bilevel has it.
constexpr double kDecayOfW = 5.0 / 7.0, kDecayOfZ = 4.0 / 7.0, kDecayOfLambda = 4.0 / 7.0,
                 kDecayOfGrowth = 1.0 / 7.0;

/// The inner steps on w and z, then the one on λ.
void outer_step(const F2sa::Settings& settings, const BilevelProblem& problem, F2sa::State& state) {
  const double train = state.curvatures.train(problem, state.lambda);
  const double validation = state.curvatures.validation(problem, state.lambda);
  const auto shrunk = [k = static_cast<double>(++state.k)](double decay) { return std::pow(k, -decay); };
  const double first = step_or_inverse(settings.alpha, train);
  // Deviation: neither step is longer than 1/(largest curvature). As published, the one on w is stable only
  // while a_k μ_k × curvature < 2, and a_k μ_k grows like k^{1/7}: it must diverge one day.
  const double a = std::min(first * shrunk(kDecayOfW), step_or_inverse(0.0, validation + state.mu * train));
  const double b = std::min(first * shrunk(kDecayOfZ), step_or_inverse(0.0, train));

  // w ← w − a_k [∇L_V(w) + μ∇L_T(w, λ)],  z ← z − b_k ∇L_T(z, λ),  a few times
  for (std::int64_t t = 0; t < settings.inner; ++t) {
    const BilevelProblem& train_batch = state.draws.at(problem, state.draws.next_train());
    const BilevelProblem& validation_batch = state.draws.at(problem, state.draws.next_validation());
    const double loss = validation_batch.validation_gradient(state.w, state.lambda, state.validation);
    if (state.beta == 0.0) state.beta = default_lambda_step(loss);
    train_batch.train_gradient(state.w, state.lambda, state.train);
    state.w -= a * (state.validation + state.mu * state.train);
    train_batch.train_gradient(state.z, state.lambda, state.train);
    state.z -= b * state.train;
  }

  // λ ← P(λ − d_k (∂L_V/∂λ + μ[∂L_T/∂λ(w) − ∂L_T/∂λ(z)]))
  const BilevelProblem& batch = state.draws.at(problem, state.draws.next_train());
  train_gradient_lambda_beyond(batch, state.w, state.z, state.lambda, state.lambda_slope, state.scratch);
  state.lambda_slope *= state.mu;
  add_direct_term(problem, state.w, state.lambda, state.lambda_slope);
  descend_lambda(state.range, state.beta * shrunk(kDecayOfLambda) * state.lambda_slope, state);

  // μ ← μ + δ_k
  state.mu += settings.growth * shrunk(kDecayOfGrowth);
}

}  // namespace

const std::vector<Setting<F2sa::Settings>>& F2sa::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::count("inner", &Settings::inner, "steps on w and z for each step on λ", "benchmark_bilevel"),
      settings::real("alpha", &Settings::alpha, LowerLimit::non_negative(),
                     "first step size on w and z; 0 takes 1/(largest curvature)",
                     "ours: benchmark_bilevel's is 0.01, absolute"),
      settings::real("beta", &Settings::beta, LowerLimit::non_negative(),
                     "first step size on λ; 0 takes 5/L_V at the start",
                     "ours: benchmark_bilevel's is 0.01 over its outer_ratio, 1"),
      settings::real("mu", &Settings::mu, LowerLimit::positive(), "first weight μ of L_T",
                     "benchmark_bilevel"),
      settings::real("growth", &Settings::growth, LowerLimit::non_negative(), "first growth δ of μ in a step",
                     "benchmark_bilevel"),
      settings::count_or("batch", &Settings::batch, "all",
                         "rows of a batch, of training and of validation rows", "benchmark_bilevel"),
      settings::count_or("steps", &Settings::steps, "epoch",
                         "steps on λ in one iteration; epoch: as many as read all training rows twice",
                         "ours: benchmark_bilevel looks at its iterates every 128 steps"),
  };
  return rows;
}

F2sa::State F2sa::init(const BilevelProblem& problem, const Start& start) const {
  require_loss_of_any_weights(problem, name);
  State state;
  state.range = with_bounds(problem, start);
  state.lambda = start.lambda;
  state.w = state.z = starting_weights(problem);
  state.train = state.validation = Vector::Zero(problem.weights());
  state.lambda_slope = state.scratch = Vector::Zero(problem.hyperparameters());
  state.beta = settings.beta;
  state.mu = settings.mu;
  state.draws = BatchDraws(problem, settings.batch, start.seed);
  return state;
}

void F2sa::step(const BilevelProblem& problem, State& state) const {
  const std::int64_t epoch = std::max<std::int64_t>(1, state.draws.train_count() / settings.inner);
  for (std::int64_t t = 0; t < (settings.steps > 0 ? settings.steps : epoch); ++t) {
    outer_step(settings, problem, state);
    if (state.status == SolverStatus::failed) return;
  }
}

}  // namespace yosida
