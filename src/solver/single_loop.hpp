#pragma once

#include <algorithm>
#include <cmath>

#include "solver/beside_lambda.hpp"
#include "yosida/setting_rules.hpp"
#include "yosida/solver/soba.hpp"

namespace yosida::single_loop {

/// The rows of the table that SOBA and SABA share.
template <typename S>
std::vector<Setting<S>> table() {
  return {
      settings::real<S>("alpha", &S::alpha, LowerLimit::non_negative(),
                        "step size on w and u; 0 takes 1/(largest curvature) of all rows",
                        "ours: the authors' is 0.1, absolute"),
      settings::real<S>("beta", &S::beta, LowerLimit::non_negative(),
                        "step size on λ; 0 takes 5/L_V at the start",
                        "ours: the authors' is 0.1 over an outer_ratio that they tune"),
      settings::count_or<S>("batch", &S::batch, "all", "rows of a batch, of training and of validation rows",
                            "the authors' code"),
      settings::count_or<S>("steps", &S::steps, "epoch",
                            "steps in one iteration; epoch: as many as there are batches of training rows",
                            "ours: the authors' code looks at its iterates every 128 steps"),
  };
}

inline SingleLoop::State start(const BilevelProblem& problem, const Start& start,
                               const SingleLoop::Settings& settings, const char* name) {
  require_loss_of_any_weights(problem, name);
  SingleLoop::State state;
  state.range = with_bounds(problem, start);
  state.lambda = start.lambda;
  state.w = starting_weights(problem);
  state.u = state.train = state.product = state.validation = Vector::Zero(problem.weights());
  state.cross = state.direct = Vector::Zero(problem.hyperparameters());
  state.beta = settings.beta;
  state.draws = BatchDraws(problem, settings.batch, start.seed);
  return state;
}

/// Batches that a step has looked at.
struct Drawn {
  Index train, validation;
};

/// The five directions of one batch of either kind.
inline Drawn directions(const BilevelProblem& problem, SingleLoop::State& state) {
  const Drawn drawn{state.draws.next_train(), state.draws.next_validation()};
  const BilevelProblem& train = state.draws.at(problem, drawn.train);
  const BilevelProblem& validation = state.draws.at(problem, drawn.validation);
  train.train_gradient(state.w, state.lambda, state.train);
  train.hessian_product(state.w, state.lambda, state.u, state.product);
  train.cross_product_transposed(state.w, state.lambda, state.u, state.cross);
  const double loss = validation.validation_gradient(state.w, state.lambda, state.validation);
  state.direct.setZero();
  add_direct_term(validation, state.w, state.lambda, state.direct);
  if (state.beta == 0.0) state.beta = default_lambda_step(loss);
  return drawn;
}

/// w ← w − a∇L_T,  u ← u − a(Hu + ∇L_V),  λ ← P(λ − b(Cᵀu + ∂L_V/∂λ))
inline void move(double a, double b, SingleLoop::State& state) {
  state.w -= a * state.train;
  state.u -= a * (state.product + state.validation);
  descend_lambda(state.range, b * (state.cross + state.direct), state);
}

inline std::int64_t steps_of(const SingleLoop::Settings& settings, const SingleLoop::State& state) {
  return settings.steps > 0 ? settings.steps : state.draws.train_count();
}

}  // namespace yosida::single_loop
