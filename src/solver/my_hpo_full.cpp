#include "yosida/solver/my_hpo_full.hpp"

#include <algorithm>
#include <cmath>

#include "solver/one_lambda.hpp"
#include "yosida/solver/residuals.hpp"

namespace yosida {
namespace {

/// argmin_λ L_V(λφ₁ + φ₀) + uᵀ(w − λφ₁ − φ₀) + ρ/2 ‖w − λφ₁ − φ₀‖², by Newton's method on its
/// derivative, halved where that does not fall: one step where L_V is quadratic.
double minimise_lambda(const BilevelProblem& problem, MyHpoFull::State& state, double rho) {
  const Vector& phi1 = state.phi.phi1;
  const double phi1_square = phi1.squaredNorm();
  const auto slope_at = [&](double lambda) {
    state.phi.respond(lambda, state.response);
    problem.validation_gradient(state.response, state.g);
    state.r = state.w - state.response;
    return phi1.dot(state.g) - phi1.dot(state.u) - rho * phi1.dot(state.r);
  };
  double lambda = state.lambda[0];
  double slope = slope_at(lambda);
  const double tolerance = 1e-13 * (std::abs(slope) + std::abs(phi1.dot(state.u)) + rho * phi1_square);
  for (int iteration = 0; iteration < 50 && std::abs(slope) > tolerance; ++iteration) {
    state.phi.respond(lambda, state.response);
    problem.validation_hessian_product(state.response, phi1, state.curvature);
    const double curvature = phi1.dot(state.curvature) + rho * phi1_square;
    double move = -slope / curvature;
    double trial = lambda + move;
    double trial_slope = slope_at(trial);
    // The derivative is increasing (the objective is convex): a step that overshoots is halved.
    for (int halving = 0; halving < 40 && std::abs(trial_slope) > std::abs(slope); ++halving) {
      move *= 0.5;
      trial = lambda + move;
      trial_slope = slope_at(trial);
    }
    if (trial == lambda || std::abs(trial_slope) >= std::abs(slope)) break;  // as near as rounding allows
    lambda = trial;
    slope = trial_slope;
  }
  return lambda;
}

}  // namespace

const std::vector<Setting<MyHpoFull::Settings>>& MyHpoFull::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("rho", &Settings::rho, Bound::positive(), "weight of the proximal terms",
                     "the paper, all experiments"),
      settings::real("epsilon", &Settings::epsilon, Bound::non_negative(),
                     "stop when ‖r‖ and ‖s‖ are under it, relative to ‖w‖; 0 never stops",
                     "ours: the paper does not state its value"),
  };
  return rows;
}

MyHpoFull::State MyHpoFull::init(const BilevelProblem& problem, const Start& start) const {
  require_one_lambda(problem, "my-hpo-full");
  require_nonzero(start.lambda, "my-hpo-full");
  State state;
  state.range = start;
  state.lambda = start.lambda;
  state.u = state.v = state.w = state.r = state.response = state.g = state.curvature =
      Vector::Zero(problem.weights());
  state.phi.phi0 = state.phi.phi1 = state.w;
  problem.fit_intercept(state.w);
  return state;
}

void MyHpoFull::step(const BilevelProblem& problem, State& state) const {
  const auto& [rho, epsilon] = settings;
  const double lambda = state.lambda[0];

  // Step 1.  v = argmin L_T(·, λ);  φ₀ = v̄ 1;  φ₁ = (v − φ₀)/λ
  const InnerReport inner = problem.inner_solve(state.lambda, {}, state.v);
  if (!std::isfinite(inner.gradient_norm))
    state.v.setConstant(inner.gradient_norm);  // solve() sees it diverge
  state.phi.anchor(problem, state.v, lambda);

  // Step 2.  w = argmin L_T(w, λ) + uᵀ(w − v) + ρ/2 ‖w − v‖²      (λφ₁ + φ₀ = v)
  state.w = state.v;
  problem.inner_solve(state.lambda, {.proximal = ProximalTerm{state.u, state.v, rho}}, state.w);

  // Step 3.  λ⁺ = argmin L_V(λφ₁ + φ₀) + uᵀ(w − λφ₁ − φ₀) + ρ/2 ‖w − λφ₁ − φ₀‖²
  if (!state.phi.is_flat)
    state.lambda[0] = std::clamp(minimise_lambda(problem, state, rho), state.range.low, state.range.high);

  // Step 4.  u ← u + ρ (w − λ⁺φ₁ − φ₀)
  update_residuals(problem, state.phi, lambda, rho, epsilon, state.u, state.r, state);
  state.u += rho * state.r;
}

}  // namespace yosida
