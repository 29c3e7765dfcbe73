#include "yosida/solver/my_hpo_full.hpp"

#include <algorithm>
#include <cmath>

#include "solver/direct_term.hpp"
#include "solver/one_lambda.hpp"
#include "solver/residuals.hpp"
#include "yosida/solver/bounds.hpp"

namespace yosida {
namespace {

constexpr double kLocalMove = 2.0;

/// argmin_λ L_V(λφ₁ + φ₀) + uᵀ(w − λφ₁ − φ₀) + ρ/2 ‖w − λφ₁ − φ₀‖², by Newton's method on its
/// derivative, halved where that does not fall: one step where L_V is quadratic.
double minimise_lambda(const BilevelProblem& problem, MyHpoFull::State& state, double rho) {
  const Vector& phi1 = state.phi.phi1;
  const auto slope_at = [&](double lambda) {  // leaves the response at λ in state.response
    state.phi.respond(lambda, state.response);
    state.trial_lambda[0] = lambda;
    problem.validation_gradient(state.response, state.trial_lambda, state.g);
    state.r = state.w - state.response;
    return phi1.dot(state.g) - phi1.dot(state.u) - rho * phi1.dot(state.r) +
           direct_slope(problem, state.response, state.trial_lambda);
  };
  double lambda = state.lambda[0];
  double slope = slope_at(lambda);
  // What rounding leaves of the three terms' difference.
  const double tolerance = 1e-14 * phi1.norm() * (state.g.norm() + state.u.norm() + rho * state.w.norm());
  for (int iteration = 0; iteration < 50 && std::abs(slope) > tolerance; ++iteration) {
    problem.validation_hessian_product(state.response, state.trial_lambda, phi1, state.curvature);
    double move = -slope / (phi1.dot(state.curvature) + rho * phi1.squaredNorm());
    double trial_slope = slope_at(lambda + move);
    // The derivative is increasing (the objective is convex): a step that overshoots is halved.
    for (int halving = 0; halving < 40 && std::abs(trial_slope) > std::abs(slope); ++halving) {
      move *= 0.5;
      trial_slope = slope_at(lambda + move);
    }
    if (std::abs(trial_slope) >= std::abs(slope)) break;  // as near as rounding allows
    lambda += move;
    slope = trial_slope;
  }
  return lambda;
}

}  // namespace

const std::vector<Setting<MyHpoFull::Settings>>& MyHpoFull::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("rho", &Settings::rho, LowerLimit::positive(), "weight of the proximal terms",
                     "the paper, all experiments"),
      settings::real("epsilon", &Settings::epsilon, LowerLimit::non_negative(),
                     "stop when ‖r‖ and ‖s‖ are under it, relative to ‖w‖; 0 never stops",
                     "ours: the paper does not state its value"),
      settings::choice("response", &Settings::response, response_names(),
                       "where the slope of the best response comes from", "the paper: mean-anchored"),
  };
  return rows;
}

MyHpoFull::State MyHpoFull::init(const BilevelProblem& problem, const Start& start) const {
  require_one_lambda(problem, name);
  require_loss_of_any_weights(problem, name);
  if (settings.response == ResponseKind::mean_anchored) require_off_pole(start, name);
  State state;
  state.range = start;
  state.lambda = state.trial_lambda = start.lambda;
  state.u = state.r = state.response = state.g = state.curvature = Vector::Zero(problem.weights());
  state.phi.phi0 = state.phi.phi1 = state.u;
  state.v = state.w = starting_weights(problem);
  state.v.tail(problem.intercepts()).setZero();  // the inner solve finds them
  return state;
}

void MyHpoFull::step(const BilevelProblem& problem, State& state) const {
  const auto& [rho, epsilon, response] = settings;
  // A true slope is good nearby only: λ keeps to the bounds and moves a little at a time.
  const bool local = response != ResponseKind::mean_anchored;
  if (local && !state.range.is_bounded()) state.range = with_bounds(problem, state.range);
  const double lambda = state.lambda[0];
  bool is_finite = true;
  const auto note = [&](const InnerReport& report) {
    if (!report.converged) ++state.inexact_solves;
    if (!std::isfinite(report.gradient_norm)) is_finite = false;
  };

  // Step 1.  v = argmin L_T(·, λ);  φ₀ = v̄ 1;  φ₁ = (v − φ₀)/λ
  note(problem.inner_solve(state.lambda, {}, state.v));
  anchor(response, problem, state.v, lambda, state.phi);

  // Step 2.  w = argmin L_T(w, λ) + uᵀ(w − v) + ρ/2 ‖w − v‖²      (λφ₁ + φ₀ = v)
  state.w = state.v;
  note(problem.inner_solve(state.lambda, {.proximal = ProximalTerm{state.u, state.v, rho}}, state.w));

  // Step 3.  λ⁺ = argmin L_V(λφ₁ + φ₀) + uᵀ(w − λφ₁ − φ₀) + ρ/2 ‖w − λφ₁ − φ₀‖²
  if (!state.phi.is_flat) {
    double next = minimise_lambda(problem, state, rho);
    // Deviation: the paper has no such limit; its response has no neighbourhood either.
    if (local) next = std::clamp(next, lambda - kLocalMove, lambda + kLocalMove);
    state.lambda[0] = state.range.clamped(next, 0);
  }

  // Step 4.  u ← u + ρ (w − λ⁺φ₁ − φ₀)
  update_residuals(problem, state.phi, lambda, rho, epsilon, state.u, state.r, state);
  state.u += rho * state.r;
  if (!is_finite) state.status = SolverStatus::failed;
}

}  // namespace yosida
