#include "yosida/solver/my_hpo_c.hpp"

#include <algorithm>

#include "response/mean_anchored.hpp"
#include "solver/direct_term.hpp"
#include "solver/one_lambda.hpp"
#include "solver/residuals.hpp"
#include "solver/simplified.hpp"

namespace yosida {

const std::vector<Setting<MyHpoC::Settings>>& MyHpoC::table() {
  static const auto rows = simplified_table<Settings>(
      "step size", "the paper's MNIST regression; steps over 2/(largest curvature) diverge",
      "the paper's MNIST regression",
      "the paper's MNIST regression, its smallest; larger ones throw λ across its pole at 0");
  return rows;
}

MyHpoC::State MyHpoC::init(const BilevelProblem& problem, const Start& start) const {
  return simplified_init(problem, start, name);
}

void MyHpoC::step(const BilevelProblem& problem, State& state) const {
  const auto& [alpha, beta, delta, rho, epsilon, w_gradient] = settings;
  auto& v = state.v;
  auto& w = state.w;
  auto& u = state.u;
  auto& g = state.g;
  auto& phi = state.phi;
  const double lambda = state.lambda[0];

  // v⁺ = v − α ∇L_T(v, λ);  φ₀ = v̄⁺ 1;  φ₁ = (v⁺ − φ₀)/λ
  problem.train_gradient(v, state.lambda, g);
  drop_intercept(problem, g);
  const double train_gradient = g.norm();
  v -= alpha * g;
  problem.fit_intercept(v);
  anchor_at_mean(problem, v, lambda, phi);

  // w⁺ = w − β [∇L_T + u + ρ (w − v⁺)]
  w_direction(problem, w_gradient, rho, state);
  w -= beta * state.p;
  problem.fit_intercept(w);

  // λ⁺ = λ − δ (φ₁ᵀ [∇L_V(v⁺) − u − ρ (w⁺ − v⁺)] + ∂L_V/∂λ)
  problem.validation_gradient(v, state.lambda, g);
  const double slope = phi.phi1.dot(g) - phi.phi1.dot(u) - rho * (phi.phi1.dot(w) - phi.phi1.dot(v)) +
                       direct_slope(problem, v, state.lambda);
  state.lambda[0] = state.range.clamped(lambda - delta * slope, 0);

  // u⁺ = u + ρ (w⁺ − λ⁺φ₁ − φ₀)
  update_residuals(problem, phi, lambda, rho, epsilon, u, state.r, state);
  require_rest(state, epsilon, train_gradient, slope, g.norm());
  u += rho * state.r;
}

}  // namespace yosida
