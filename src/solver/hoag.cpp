#include "yosida/solver/hoag.hpp"

#include <algorithm>

#include "linalg/safe_norm.hpp"
#include "solver/direct_term.hpp"
#include "solver/lambda_range.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida {
namespace {

/// The tolerance that inner solves of problems promise to reach.
constexpr double kTightest = InnerOptions{}.tolerance;

}  // namespace

const std::vector<Setting<Hoag::Settings>>& Hoag::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("tolerance", &Settings::tolerance, LowerLimit::positive(),
                     "first relative tolerance of inner problem and adjoint system", "its author's code"),
      settings::fraction("decrease", &Settings::decrease,
                         "what the tolerance is multiplied by after each iteration", "its author's code"),
  };
  return rows;
}

Hoag::State Hoag::init(const BilevelProblem& problem, const Start& start) const {
  State state;
  state.range = with_bounds(problem, start);
  state.lambda = state.previous = start.lambda;
  state.tolerance = settings.tolerance;
  state.hypergradient = Vector::Zero(problem.hyperparameters());
  state.q = state.g = Vector::Zero(problem.weights());
  state.w = starting_weights(problem);
  return state;
}

// The algorithm's loop, begun at its last line: so the w of an iterate belongs to its λ.
void Hoag::step(const BilevelProblem& problem, State& state) const {
  const auto note = [&](const auto& report) {
    if (!report.converged) ++state.inexact_solves;
  };
  auto& epsilon = state.tolerance;
  auto& lipschitz = state.lipschitz;

  // λ = P(λ − p/L)
  state.previous = state.lambda;
  if (lipschitz > 0.0) descend_lambda(state.range, state.hypergradient / lipschitz, state);
  if (state.status == SolverStatus::failed) return;

  // w with ‖∇L_T(w, λ)‖ ≤ ε_k ‖∇L_T(0)‖
  note(problem.inner_solve(state.lambda, {.proximal = {}, .tolerance = epsilon}, state.w));

  // q with ‖H q − ∇L_V(w)‖ ≤ ε_k ‖∇L_V(w)‖
  const double before = state.validation;
  state.validation = problem.validation_gradient(state.w, state.lambda, state.g);
  note(problem.hessian_solve(state.w, state.lambda, state.g, {.tolerance = epsilon}, state.q));

  // p = ∂L_V/∂λ − Cᵀ q
  problem.cross_product_transposed(state.w, state.lambda, state.q, state.hypergradient);
  state.hypergradient *= -1.0;
  add_direct_term(problem, state.w, state.lambda, state.hypergradient);
  if (!state.hypergradient.allFinite()) state.status = SolverStatus::failed;

  const double next_epsilon = std::max(kTightest, settings.decrease * epsilon);
  if (lipschitz == 0.0) {
    // Deviation: the first step on λ has length 1 whatever the number of hyperparameters and the scale of the
    // loss; the author's has length 1/n, and 1/L = 1 where ‖p‖ ≤ 1e-3.
    lipschitz = safe_norm(state.hypergradient);
  } else {
    // Success: L_V falls by L/2 ‖Δλ‖², up to what the tolerances leave open.
    // Deviation: the slack is a share of L_V, not a number, so that the scale of the targets does not matter.
    const double move = (state.lambda - state.previous).norm();
    const double slack = (next_epsilon + epsilon * (1.0 + move)) * before;
    if (state.validation <= before + slack - 0.5 * lipschitz * move * move)
      lipschitz *= 0.95;
    else if (state.validation > before)
      lipschitz *= 2.0;
  }
  epsilon = next_epsilon;
}

}  // namespace yosida
