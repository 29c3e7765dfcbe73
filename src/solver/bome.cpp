#include "yosida/solver/bome.hpp"

#include <algorithm>

#include "solver/beside_lambda.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida {

const std::vector<Setting<Bome::Settings>>& Bome::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::count("steps", &Settings::steps, "gradient steps T from w to w_T", "benchmark_bilevel"),
      settings::real("eta", &Settings::eta, LowerLimit::positive(),
                     "η: q is to fall by η‖∇q‖² along a step, to first order", "benchmark_bilevel"),
      settings::real("alpha", &Settings::alpha, LowerLimit::non_negative(),
                     "step size on w and w_T; 0 takes ½/(largest curvature)",
                     "ours: benchmark_bilevel's is 0.1, absolute"),
      settings::real("beta", &Settings::beta, LowerLimit::non_negative(),
                     "step size on λ; 0 takes 5/L_V at the start",
                     "ours: benchmark_bilevel's is 0.1 over its outer_ratio, 1"),
  };
  return rows;
}

Bome::State Bome::init(const BilevelProblem& problem, const Start& start) const {
  require_loss_of_any_weights(problem, name);
  State state;
  state.range = with_bounds(problem, start);
  state.lambda = start.lambda;
  state.w = state.trained = starting_weights(problem);
  state.g = state.validation_slope = state.constraint_slope = Vector::Zero(problem.weights());
  state.lambda_slope = state.constraint_lambda_slope = state.scratch =
      Vector::Zero(problem.hyperparameters());
  state.beta = settings.beta;
  return state;
}

void Bome::step(const BilevelProblem& problem, State& state) const {
  auto& w = state.w;
  const double validation = problem.validation_gradient(w, state.lambda, state.validation_slope);
  if (state.beta == 0.0) state.beta = default_lambda_step(validation);
  const double alpha = step_or_inverse(settings.alpha, 2.0 * state.curvatures.train(problem, state.lambda));

  // w_T: T steps w_T ← w_T − α∇L_T(w_T, λ) from w; the first gradient is that of q, too
  problem.train_gradient(w, state.lambda, state.constraint_slope);
  state.trained = w - alpha * state.constraint_slope;
  for (std::int64_t t = 1; t < settings.steps; ++t) {
    problem.train_gradient(state.trained, state.lambda, state.g);
    state.trained -= alpha * state.g;
  }

  // ∇q = (∇_w L_T(w), ∂L_T/∂λ(w) − ∂L_T/∂λ(w_T)),  ∇L_V = (∇_w L_V, ∂L_V/∂λ)
  train_gradient_lambda_beyond(problem, w, state.trained, state.lambda, state.constraint_lambda_slope,
                               state.scratch);
  state.lambda_slope.setZero();
  add_direct_term(problem, w, state.lambda, state.lambda_slope);

  // μ = max(η‖∇q‖² − ⟨∇L_V, ∇q⟩, 0)/‖∇q‖²
  const double square = state.constraint_slope.squaredNorm() + state.constraint_lambda_slope.squaredNorm();
  const double product = state.validation_slope.dot(state.constraint_slope) +
                         state.lambda_slope.dot(state.constraint_lambda_slope);
  const double mu = square > 0.0 ? std::max(settings.eta * square - product, 0.0) / square : 0.0;

  // w ← w − α(∇_w L_V + μ∇_w q),  λ ← P(λ − β(∂L_V/∂λ + μ∂q/∂λ))
  w -= alpha * (state.validation_slope + mu * state.constraint_slope);
  state.lambda_slope += mu * state.constraint_lambda_slope;
  descend_lambda(state.range, state.beta * state.lambda_slope, state);
}

}  // namespace yosida
