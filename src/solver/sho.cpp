#include "yosida/solver/sho.hpp"

#include <algorithm>
#include <cmath>

#include "solver/direct_term.hpp"
#include "solver/one_lambda.hpp"

namespace yosida {
namespace {

/// out = G_φ(λ) = λ φ₁ + φ₀, the intercept refitted.
void respond(const BilevelProblem& problem, const Sho::State& state, double lambda, Vector& out) {
  const Index penalised = out.size() - problem.intercepts();  // the old intercepts start the fit
  out.head(penalised) = lambda * state.phi1.head(penalised) + state.phi0.head(penalised);
  problem.fit_intercept(out);
}

double adam_step(Sho::State& state, double slope, double rate) {
  ++state.steps;
  state.moment1 = 0.9 * state.moment1 + 0.1 * slope;
  state.moment2 = 0.999 * state.moment2 + 0.001 * slope * slope;
  const auto t = static_cast<double>(state.steps);
  const double mean = state.moment1 / (1.0 - std::pow(0.9, t));
  const double square = state.moment2 / (1.0 - std::pow(0.999, t));
  return rate * mean / (std::sqrt(square) + 1e-8);
}

}  // namespace

const std::vector<Setting<Sho::Settings>>& Sho::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("alpha", &Settings::alpha, LowerLimit::positive(), "step size on φ (the hypernetwork)",
                     "the paper's smallest step on MNIST; larger ones diverge on ill-conditioned data"),
      settings::real("beta", &Settings::beta, LowerLimit::non_negative(), "step size on λ",
                     "the paper, all experiments"),
      settings::real("sigma", &Settings::sigma, LowerLimit::non_negative(),
                     "standard deviation of the noise on λ while φ is trained", "the paper, all experiments"),
      settings::real("phi_scale", &Settings::phi_scale, LowerLimit::non_negative(),
                     "φ starts as this times standard normals; 0 starts from 0", "the paper"),
      settings::choice("lambda_optimizer", &Settings::lambda_optimizer, {"plain", "adam"},
                       "how λ follows its gradient", "the paper: plain steps; its authors' code: Adam"),
  };
  return rows;
}

Sho::State Sho::init(const BilevelProblem& problem, const Start& start) const {
  require_one_lambda(problem, name);
  require_loss_of_any_weights(problem, name);
  State state;
  state.range = start;
  state.random = Random(start.seed);
  state.lambda = state.lambda_hat = start.lambda;
  state.phi0 = state.phi1 = state.g = state.w_hat = state.w = Vector::Zero(problem.weights());
  const Index penalised = problem.weights() - problem.intercepts();
  if (settings.phi_scale > 0.0) {
    for (Index j = 0; j < penalised; ++j) state.phi1[j] = settings.phi_scale * state.random.normal();
    for (Index j = 0; j < penalised; ++j) state.phi0[j] = settings.phi_scale * state.random.normal();
  }
  if (const Vector& given = problem.traits().start; given.size() > 0)
    state.phi0.head(penalised) += given.head(penalised);
  respond(problem, state, state.lambda[0], state.w);
  return state;
}

void Sho::step(const BilevelProblem& problem, State& state) const {
  const auto& [alpha, beta, sigma, phi_scale, lambda_optimizer] = settings;
  double& lambda = state.lambda[0];
  double& lambda_hat = state.lambda_hat[0];

  // λ̂ ~ N(λ, σ)
  lambda_hat = lambda + sigma * state.random.normal();

  // φ ← φ − α ∇_G L_T(G_φ(λ̂), λ̂) · ∂G_φ(λ̂)/∂φ
  respond(problem, state, lambda_hat, state.w_hat);
  problem.train_gradient(state.w_hat, state.lambda_hat, state.g);
  drop_intercept(problem, state.g);
  state.phi1 -= alpha * lambda_hat * state.g;
  state.phi0 -= alpha * state.g;

  // λ ← λ − β [φ₁ᵀ ∇L_V(G_φ(λ)) + ∂L_V/∂λ]
  respond(problem, state, lambda, state.w);
  problem.validation_gradient(state.w, state.lambda, state.g);
  const double slope = state.phi1.dot(state.g) + direct_slope(problem, state.w, state.lambda);
  lambda -= lambda_optimizer == Optimizer::adam ? adam_step(state, slope, beta) : beta * slope;
  lambda = state.range.clamped(lambda, 0);

  respond(problem, state, lambda, state.w);
}

}  // namespace yosida
