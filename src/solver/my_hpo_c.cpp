#include "yosida/solver/my_hpo_c.hpp"

#include <algorithm>
#include <cmath>

#include "solver/one_lambda.hpp"
#include "yosida/solver/residuals.hpp"

namespace yosida {

SimplifiedState simplified_init(const BilevelProblem& problem, const Start& start, const char* method) {
  require_one_lambda(problem, method);
  require_nonzero(start.lambda, method);
  SimplifiedState state;
  state.range = start;
  state.lambda = start.lambda;
  state.v = state.w = state.u = state.g = state.g_w = state.p = state.r = state.trial =
      Vector::Zero(problem.weights());
  state.phi.phi0 = state.phi.phi1 = state.v;
  problem.fit_intercept(state.v);
  state.w = state.v;
  return state;
}

void require_rest(SimplifiedState& state, double epsilon, double train_gradient, double slope,
                  double validation_gradient) {
  if (state.first_gradient == 0.0) state.first_gradient = train_gradient;
  state.converged = state.converged && train_gradient <= epsilon * state.first_gradient &&
                    std::abs(slope) <= epsilon * state.phi.phi1.norm() * validation_gradient;
}

const std::vector<Setting<MyHpoC::Settings>>& MyHpoC::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("alpha", &Settings::alpha, Bound::positive(), "step size on v",
                     "the paper's MNIST regression; steps over 2/(largest curvature) diverge"),
      settings::real("beta", &Settings::beta, Bound::positive(), "step size on w",
                     "the paper's MNIST regression"),
      settings::real("delta", &Settings::delta, Bound::non_negative(), "step size on λ",
                     "the paper's MNIST regression, its smallest; larger ones throw λ across its pole at 0"),
      settings::real("rho", &Settings::rho, Bound::non_negative(), "weight of the proximal terms",
                     "the paper, all experiments"),
      settings::real("epsilon", &Settings::epsilon, Bound::non_negative(),
                     "stop when ‖r‖, ‖s‖ and the gradients are under it, all relative; 0 never stops",
                     "ours: small, so that in practice the budget decides, as in the paper"),
      settings::choice("w_gradient", &Settings::w_gradient, {"shared", "own"},
                       "the gradient of the w-update: v's (2 gradients an iteration) or w's own (3)",
                       "the paper: shared"),
  };
  return rows;
}

MyHpoC::State MyHpoC::init(const BilevelProblem& problem, const Start& start) const {
  return simplified_init(problem, start, "my-hpo-c");
}

void MyHpoC::step(const BilevelProblem& problem, State& state) const {
  const auto& [alpha, beta, delta, rho, epsilon, w_gradient] = settings;
  auto& v = state.v;
  auto& w = state.w;
  auto& u = state.u;
  auto& phi = state.phi;
  auto& g = state.g;
  auto& p = state.p;
  const double lambda = state.lambda[0];

  // v⁺ = v − α ∇L_T(v, λ);  φ₀ = v̄⁺ 1;  φ₁ = (v⁺ − φ₀)/λ
  problem.train_gradient(v, state.lambda, g);
  drop_intercept(problem, g);
  const double train_gradient = g.norm();
  v -= alpha * g;
  problem.fit_intercept(v);
  phi.anchor(problem, v, lambda);

  // w⁺ = w − β [∇L_T + u + ρ (w − v⁺)]      (λφ₁ + φ₀ = v⁺)
  // Deviation: with w_gradient = own, ∇L_T is taken at w: the shared one is not the gradient of w's
  // objective.
  if (w_gradient == WGradient::own) problem.train_gradient(w, state.lambda, state.g_w);
  p = (w_gradient == WGradient::own ? state.g_w : g) + u + rho * (w - v);
  drop_intercept(problem, p);
  w -= beta * p;
  problem.fit_intercept(w);

  // λ⁺ = λ − δ φ₁ᵀ [∇L_V(v⁺) − u − ρ (w⁺ − v⁺)]
  problem.validation_gradient(v, g);
  const double slope = phi.phi1.dot(g) - phi.phi1.dot(u) - rho * (phi.phi1.dot(w) - phi.phi1.dot(v));
  state.lambda[0] = std::clamp(lambda - delta * slope, state.range.low, state.range.high);

  // u⁺ = u + ρ (w⁺ − λ⁺φ₁ − φ₀)
  update_residuals(problem, phi, lambda, rho, epsilon, u, state.r, state);
  require_rest(state, epsilon, train_gradient, slope, g.norm());
  u += rho * state.r;
}

}  // namespace yosida
