#include "yosida/solver/stn.hpp"

#include <cmath>

#include "solver/direct_term.hpp"
#include "solver/lambda_range.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida {
namespace {

/// ε ~ N(0, diag e^{2s}), and ŵ = φ₀ + Φ₁ε
void perturb(Stn::State& state) {
  for (Index j = 0; j < state.epsilon.size(); ++j)
    state.epsilon[j] = std::exp(state.log_scale[j]) * state.random.normal();
  state.w_hat = state.w;
  state.w_hat.noalias() += state.phi1 * state.epsilon;
}

/// α where it is given, else 1/L of (φ₀, Φ₁) ↦ L_T(φ₀ + Φ₁ε, λ̂).
double phi_step_size(const BilevelProblem& problem, double alpha, Stn::State& state) {
  if (alpha > 0.0) return alpha;
  const double curvature = train_curvature(problem, state.lambda_hat, state.curvature);
  return curvature > 0.0 ? 1.0 / (curvature * (1.0 + state.epsilon.squaredNorm())) : 1.0;
}

}  // namespace

const std::vector<Setting<Stn::Settings>>& Stn::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::count("steps", &Settings::steps, "training steps on φ for each validation step on λ",
                      "the authors' code"),
      settings::real("alpha", &Settings::alpha, LowerLimit::non_negative(),
                     "step size on φ; 0 takes 1/(largest curvature), at 2 Hessian products a step",
                     "ours: the largest step that is sure not to diverge"),
      settings::real("beta", &Settings::beta, LowerLimit::non_negative(),
                     "step size on λ, along the gradient of log L_V", "ours: φ must be able to follow"),
      settings::real("gamma", &Settings::gamma, LowerLimit::non_negative(),
                     "step size on the logarithm of the noise's scale, likewise", "the authors' code"),
      settings::real("sigma", &Settings::sigma, LowerLimit::positive(),
                     "first standard deviation of the noise on λ", "the authors' code"),
      settings::real("tau", &Settings::tau, LowerLimit::non_negative(), "weight of the noise's entropy",
                     "the authors' code"),
  };
  return rows;
}

Stn::State Stn::init(const BilevelProblem& problem, const Start& start) const {
  require_loss_of_any_weights(problem, name);
  State state;
  state.range = with_bounds(problem, start);
  state.random = Random(start.seed);
  state.lambda = state.lambda_hat = state.previous = start.lambda;
  state.w_hat = state.g = Vector::Zero(problem.weights());
  state.w = starting_weights(problem);
  state.phi1 = Matrix::Zero(problem.weights(), problem.hyperparameters());
  state.log_scale = Vector::Constant(problem.hyperparameters(), std::log(settings.sigma));
  state.epsilon = state.slope = Vector::Zero(problem.hyperparameters());
  return state;
}

// Deviation: one ε a step where the authors draw one for each row of a batch, plain steps where they take
// Adam's, and log L_V for L_V, so that the scale of the targets does not matter.
void Stn::step(const BilevelProblem& problem, State& state) const {
  auto& g = state.g;
  auto& epsilon = state.epsilon;
  auto& slope = state.slope;

  // φ ← φ − α ∂/∂φ L_T(ŵ(λ + ε), λ + ε), a few times
  for (std::int64_t t = 0; t < settings.steps; ++t) {
    perturb(state);
    state.lambda_hat = state.lambda + epsilon;
    problem.train_gradient(state.w_hat, state.lambda_hat, g);
    const double alpha = phi_step_size(problem, settings.alpha, state);
    state.w -= alpha * g;
    state.phi1.noalias() -= alpha * g * epsilon.transpose();
  }

  // (λ, s) ← (λ, s) − ∂/∂(λ, s) [log L_V(ŵ(λ + ε)) − τ H(ε)],  H(ε) = Σ s + a constant
  perturb(state);
  state.lambda_hat = state.lambda + epsilon;
  const double validation = problem.validation_gradient(state.w_hat, state.lambda_hat, g);
  if (!(validation > 0.0)) return;
  slope.noalias() = state.phi1.transpose() * g;
  add_direct_term(problem, state.w_hat, state.lambda_hat, slope);
  slope /= validation;
  state.log_scale -= settings.gamma * (slope.cwiseProduct(epsilon).array() - settings.tau).matrix();
  state.previous = state.lambda;
  descend_lambda(state.range, settings.beta * slope, state);

  // The response stays the same function of λ: φ₀ moves along it.
  state.w.noalias() += state.phi1 * (state.lambda - state.previous);
}

}  // namespace yosida
