#include "yosida/solver/my_hpo_bt.hpp"

#include <algorithm>
#include <cmath>

#include "response/mean_anchored.hpp"
#include "solver/direct_term.hpp"
#include "solver/one_lambda.hpp"
#include "solver/residuals.hpp"
#include "solver/simplified.hpp"
#include "yosida/linalg/function_ref.hpp"

namespace yosida {
namespace {

/// The first of step, step/2, step/4, … (30 halvings) with
///   objective(step) ≤ objective(0) − ½ step ‖direction‖² + slack;
/// 0 where there is none, which is counted. The slack of 4e-16 |objective| keeps rounding near
/// convergence from blocking every step.
double backtrack(FunctionRef<double(double)> objective, double step, double direction_square,
                 std::int64_t& skipped) {
  const double start = objective(0.0);
  const double slack = 4e-16 * std::abs(start);
  for (int halving = 0; halving <= 30; ++halving, step *= 0.5)
    if (objective(step) <= start - 0.5 * step * direction_square + slack) return step;
  ++skipped;
  return 0.0;
}

}  // namespace

const std::vector<Setting<MyHpoBt::Settings>>& MyHpoBt::table() {
  static const auto rows = simplified_table<Settings>("first step size, halved until its objective falls,",
                                                      "the paper's largest on Cookie and MNIST regression",
                                                      "the paper's largest on Cookie and MNIST regression",
                                                      "the paper's on Cookie and MNIST regression");
  return rows;
}

MyHpoBt::State MyHpoBt::init(const BilevelProblem& problem, const Start& start) const {
  return simplified_init(problem, start, name);
}

void MyHpoBt::step(const BilevelProblem& problem, State& state) const {
  const auto& [alpha, beta, delta, rho, epsilon, w_gradient] = settings;
  auto& v = state.v;
  auto& w = state.w;
  auto& u = state.u;
  auto& g = state.g;
  auto& p = state.p;
  auto& phi = state.phi;
  auto& trial = state.trial;
  const double lambda = state.lambda[0];

  // v⁺ = v − t ∇L_T(v, λ), t from α on down until L_T(·, λ) falls;  φ₀ = v̄⁺ 1;  φ₁ = (v⁺ − φ₀)/λ
  problem.train_gradient(v, state.lambda, g);
  drop_intercept(problem, g);
  const double train_gradient = g.norm();
  const auto train = [&](double t) {
    trial = v - t * g;
    return problem.train_loss(trial, state.lambda);
  };
  v -= backtrack(train, alpha, train_gradient * train_gradient, state.skipped_steps) * g;
  problem.fit_intercept(v);
  anchor_at_mean(problem, v, lambda, phi);

  // w⁺ = w − t [∇L_T + u + ρ (w − v⁺)], t from β on down until L_T(w, λ) + uᵀ(w − v⁺) + ρ/2 ‖w − v⁺‖² falls
  w_direction(problem, w_gradient, rho, state);
  const auto augmented_train = [&, rho = rho](double t) {
    trial = w - t * p;
    const double loss = problem.train_loss(trial, state.lambda);
    trial -= v;
    drop_intercept(problem, trial);
    return loss + u.dot(trial) + 0.5 * rho * trial.squaredNorm();
  };
  w -= backtrack(augmented_train, beta, p.squaredNorm(), state.skipped_steps) * p;
  problem.fit_intercept(w);

  // λ⁺ = λ − t (φ₁ᵀ [∇L_V(v⁺) − u − ρ (w⁺ − v⁺)] + ∂L_V/∂λ), t from δ on down until
  // L_V(λφ₁ + φ₀) + uᵀ(w⁺ − λφ₁ − φ₀) + ρ/2 ‖w⁺ − λφ₁ − φ₀‖² falls
  problem.validation_gradient(v, state.lambda, g);
  const double slope = phi.phi1.dot(g) - phi.phi1.dot(u) - rho * (phi.phi1.dot(w) - phi.phi1.dot(v)) +
                       direct_slope(problem, v, state.lambda);
  Vector& trial_lambda = state.trial_lambda;
  const auto moved = [&](double t) { return state.range.clamped(lambda - t * slope, 0); };
  const auto augmented_validation = [&, rho = rho](double t) {
    trial_lambda[0] = moved(t);
    phi.respond(trial_lambda[0], trial);
    const double loss = problem.validation_loss(trial, trial_lambda);
    trial = w - trial;
    drop_intercept(problem, trial);
    return loss + u.dot(trial) + 0.5 * rho * trial.squaredNorm();
  };
  state.lambda[0] = moved(backtrack(augmented_validation, delta, slope * slope, state.skipped_steps));

  // u⁺ = u + ρ (w⁺ − λ⁺φ₁ − φ₀)
  update_residuals(problem, phi, lambda, rho, epsilon, u, state.r, state);
  require_rest(state, epsilon, train_gradient, slope, g.norm());
  u += rho * state.r;
}

}  // namespace yosida
