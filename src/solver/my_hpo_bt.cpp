#include "yosida/solver/my_hpo_bt.hpp"

#include <algorithm>
#include <cmath>

#include "solver/one_lambda.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/solver/residuals.hpp"

namespace yosida {
namespace {

/// The first of step, step/2, step/4, … (30 halvings) with
///   objective(step) ≤ objective(0) − ½ step ‖direction‖² + slack;  0 where none is.
/// The slack of 4e-16 |objective| keeps rounding near convergence from blocking every step.
double backtrack(FunctionRef<double(double)> objective, double step, double direction_square) {
  const double start = objective(0.0);
  const double slack = 4e-16 * std::abs(start);
  for (int halving = 0; halving <= 30; ++halving, step *= 0.5)
    if (objective(step) <= start - 0.5 * step * direction_square + slack) return step;
  return 0.0;
}

}  // namespace

const std::vector<Setting<MyHpoBt::Settings>>& MyHpoBt::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("alpha", &Settings::alpha, Bound::positive(),
                     "first step size on v, halved until L_T falls",
                     "the paper's largest on Cookie and MNIST regression"),
      settings::real("beta", &Settings::beta, Bound::positive(), "first step size on w, halved likewise",
                     "the paper's largest on Cookie and MNIST regression"),
      settings::real("delta", &Settings::delta, Bound::non_negative(),
                     "first step size on λ, halved likewise", "the paper's on Cookie and MNIST regression"),
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

MyHpoBt::State MyHpoBt::init(const BilevelProblem& problem, const Start& start) const {
  return simplified_init(problem, start, "my-hpo-bt");
}

void MyHpoBt::step(const BilevelProblem& problem, State& state) const {
  const auto& [alpha, beta, delta, rho, epsilon, w_gradient] = settings;
  auto& v = state.v;
  auto& w = state.w;
  auto& u = state.u;
  auto& phi = state.phi;
  auto& g = state.g;
  auto& p = state.p;
  auto& trial = state.trial;
  const double lambda = state.lambda[0];
  const auto counted = [&](double step) {
    if (step == 0.0) ++state.skipped_steps;
    return step;
  };

  // v⁺ = v − t ∇L_T(v, λ), t from α on down until L_T(·, λ) falls;  φ₀ = v̄⁺ 1;  φ₁ = (v⁺ − φ₀)/λ
  problem.train_gradient(v, state.lambda, g);
  drop_intercept(problem, g);
  const double train_gradient = g.norm();
  const auto train = [&](double t) {
    trial = v - t * g;
    return problem.train_loss(trial, state.lambda);
  };
  v -= counted(backtrack(train, alpha, train_gradient * train_gradient)) * g;
  problem.fit_intercept(v);
  phi.anchor(problem, v, lambda);

  // w⁺ = w − t [∇L_T + u + ρ (w − v⁺)], t from β on down until L_T(w, λ) + uᵀ(w − v⁺) + ρ/2 ‖w − v⁺‖² falls
  // Deviation: with w_gradient = own, ∇L_T is taken at w: the shared one is not the gradient of w's
  // objective.
  if (w_gradient == WGradient::own) problem.train_gradient(w, state.lambda, state.g_w);
  p = (w_gradient == WGradient::own ? state.g_w : g) + u + rho * (w - v);
  drop_intercept(problem, p);
  const auto augmented_train = [&](double t) {
    trial = w - t * p;
    const double loss = problem.train_loss(trial, state.lambda);
    trial -= v;
    drop_intercept(problem, trial);
    return loss + u.dot(trial) + 0.5 * rho * trial.squaredNorm();
  };
  w -= counted(backtrack(augmented_train, beta, p.squaredNorm())) * p;
  problem.fit_intercept(w);

  // λ⁺ = λ − t φ₁ᵀ [∇L_V(v⁺) − u − ρ (w⁺ − v⁺)], t from δ on down until
  // L_V(λφ₁ + φ₀) + uᵀ(w⁺ − λφ₁ − φ₀) + ρ/2 ‖w⁺ − λφ₁ − φ₀‖² falls
  problem.validation_gradient(v, g);
  const double slope = phi.phi1.dot(g) - phi.phi1.dot(u) - rho * (phi.phi1.dot(w) - phi.phi1.dot(v));
  const auto augmented_validation = [&](double t) {
    phi.respond(lambda - t * slope, trial);
    const double loss = problem.validation_loss(trial);
    trial = w - trial;
    drop_intercept(problem, trial);
    return loss + u.dot(trial) + 0.5 * rho * trial.squaredNorm();
  };
  const double step = counted(backtrack(augmented_validation, delta, slope * slope));
  state.lambda[0] = std::clamp(lambda - step * slope, state.range.low, state.range.high);

  // u⁺ = u + ρ (w⁺ − λ⁺φ₁ − φ₀)
  update_residuals(problem, phi, lambda, rho, epsilon, u, state.r, state);
  require_rest(state, epsilon, train_gradient, slope, g.norm());
  u += rho * state.r;
}

}  // namespace yosida
