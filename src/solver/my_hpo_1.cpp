#include "yosida/solver/my_hpo_1.hpp"

#include <algorithm>
#include <cmath>

#include "solver/direct_term.hpp"
#include "solver/one_lambda.hpp"
#include "solver/stationarity.hpp"
#include "yosida/solver/bounds.hpp"

namespace yosida {

const std::vector<Setting<MyHpo1::Settings>>& MyHpo1::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("rho", &Settings::rho, LowerLimit::non_negative(),
                     "weight of the proximal term, relative to the curvature of L_V on the tangent", "ours"),
      settings::real("epsilon", &Settings::epsilon, LowerLimit::non_negative(),
                     "share of (λ' − λ)² in the proximal term, relative to ‖φ₁‖²", "ours"),
      settings::real("tolerance", &Settings::tolerance, LowerLimit::positive(),
                     "stop when the scaled hypergradient and the inner gradient are under it", "ours"),
      settings::real("reach", &Settings::reach, LowerLimit::positive(), "no step on λ is longer",
                     "ours: v and φ₁ must keep up"),
  };
  return rows;
}

MyHpo1::State MyHpo1::init(const BilevelProblem& problem, const Start& start) const {
  require_one_lambda(problem, name);
  require_loss_of_any_weights(problem, name);
  State state;
  state.range = start;
  state.lambda = start.lambda;
  state.phi1 = state.g = state.product = state.scratch = Vector::Zero(problem.weights());
  state.w = starting_weights(problem);
  return state;
}

void MyHpo1::step(const BilevelProblem& problem, State& state) const {
  if (state.curvature == 0.0) {
    state.curvature = largest_curvature(problem, state.lambda);
    if (!state.range.is_bounded()) state.range = with_bounds(problem, state.range);
  }
  Vector& v = state.w;
  const double penalty = 2.0 * std::exp(state.lambda[0]);
  const double alpha = 1.0 / (state.curvature + penalty);

  // v ← v − α ∇L_T(v, λ)
  problem.train_gradient(v, state.lambda, state.g);
  const double inner = state.g.norm();
  v -= alpha * state.g;
  // φ₁ ← φ₁ − α (H φ₁ + C)
  problem.hessian_product(v, state.lambda, state.phi1, state.product);
  problem.cross_product(v, state.lambda, Vector::Ones(1), state.scratch);
  const double turn = state.scratch.norm();
  state.phi1 -= alpha * (state.product + state.scratch);
  // λ⁺ = argmin of L_V on the tangent + the proximal term, inside the bounds
  const double validation = problem.validation_gradient(v, state.lambda, state.g);
  const double slope = state.g.dot(state.phi1) + direct_slope(problem, v, state.lambda);
  problem.validation_hessian_product(v, state.lambda, state.phi1, state.product);
  const double bend = state.phi1.dot(state.product);
  const double prox = settings.rho * bend * (1.0 + settings.epsilon);
  const double move = bend + prox > 0.0 ? -slope / (bend + prox) : 0.0;
  state.lambda[0] =
      state.range.clamped(state.lambda[0] + std::clamp(move, -settings.reach, settings.reach), 0);
  if (!std::isfinite(slope) || !std::isfinite(inner)) {
    state.status = SolverStatus::failed;
    return;
  }

  // Stop where v, and with it the slope, are those of λ, and the slope is small.
  if (inner > settings.tolerance * turn || !(validation > 0.0)) return;
  if (scaled_hypergradient(problem, state.range, v, state.lambda, Vector::Constant(1, slope), validation) <=
      settings.tolerance)
    state.status = SolverStatus::converged;
}

}  // namespace yosida
