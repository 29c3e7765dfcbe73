#include "yosida/solver/meha.hpp"

#include <cmath>

#include "solver/beside_lambda.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida {

const std::vector<Setting<Meha::Settings>>& Meha::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("gamma", &Settings::gamma, LowerLimit::positive(), "γ of the envelope",
                     "the authors' R package, sparse group lasso"),
      settings::real("c", &Settings::c, LowerLimit::positive(),
                     "first weight c₀ of the constraint, c = c₀(k + 1)^p",
                     "the authors' R package, sparse group lasso"),
      settings::real("growth", &Settings::growth, LowerLimit::non_negative(), "its exponent p",
                     "the authors' R package; the paper asks for less than ½"),
      settings::real("eta", &Settings::eta, LowerLimit::non_negative(),
                     "step size on θ; 0 takes 1/(largest curvature)",
                     "ours: the authors' are absolute, from 1e-5 to 0.1"),
      settings::real("alpha", &Settings::alpha, LowerLimit::non_negative(),
                     "step size on w (the paper's β); 0 takes 1/(largest curvature)",
                     "ours: the authors' are absolute, from 1e-5 to 5e-4"),
      settings::real("beta", &Settings::beta, LowerLimit::non_negative(),
                     "step size on λ (the paper's α); 0 takes 5/L_V at the start",
                     "ours: the authors' are absolute, from 1e-4 to 0.1"),
  };
  return rows;
}

Meha::State Meha::init(const BilevelProblem& problem, const Start& start) const {
  require_loss_of_any_weights(problem, name);
  State state;
  state.range = with_bounds(problem, start);
  state.lambda = start.lambda;
  state.w = state.theta = starting_weights(problem);
  state.g = state.validation_slope = Vector::Zero(problem.weights());
  state.lambda_slope = state.lambda_slope_of_theta = Vector::Zero(problem.hyperparameters());
  state.beta = settings.beta;
  return state;
}

// Faults of the released code that are not copied: the one in PyTorch multiplies L_V by the growing c and
// does not use the θ that it has thresholded; the R package's second variant thresholds by η²e^λ.
void Meha::step(const BilevelProblem& problem, State& state) const {
  auto& w = state.w;
  auto& theta = state.theta;
  auto& g = state.g;
  const double validation = problem.validation_gradient(w, state.lambda, state.validation_slope);
  if (state.beta == 0.0) state.beta = default_lambda_step(validation);
  const double curvature = state.curvatures.train(problem, state.lambda);

  // c = c₀(k + 1)^p
  const double c = settings.c * std::pow(static_cast<double>(++state.k), settings.growth);

  // θ ← prox_η(θ − η [∇f(θ, λ) + (θ − w)/γ]), f the smooth part of L_T
  const double eta = step_or_inverse(settings.eta, curvature + 1.0 / settings.gamma);
  problem.smooth_gradient(theta, state.lambda, g);
  theta -= eta * (g + (theta - w) / settings.gamma);
  problem.proximal_step(eta, state.lambda, theta);

  // λ ← P(λ − β [∂L_V/∂λ / c + ∂L_T/∂λ(w) − ∂L_T/∂λ(θ)])
  auto& slope = state.lambda_slope;
  train_gradient_lambda_beyond(problem, w, theta, state.lambda, slope, state.lambda_slope_of_theta);
  slope *= c;
  add_direct_term(problem, w, state.lambda, slope);
  descend_lambda(state.range, state.beta / c * slope, state);
  if (state.status == SolverStatus::failed) return;

  // w ← prox_α(w − α [∇L_V(w)/c + ∇f(w, λ) − (w − θ)/γ])
  const double alpha =
      step_or_inverse(settings.alpha, state.curvatures.train(problem, state.lambda) +
                                          state.curvatures.validation(problem, state.lambda) / c);
  problem.smooth_gradient(w, state.lambda, g);
  w -= alpha * (state.validation_slope / c + g - (w - theta) / settings.gamma);
  problem.proximal_step(alpha, state.lambda, w);
}

}  // namespace yosida
