#include "yosida/solver/bic_gaffa.hpp"

#include <cmath>
#include <string>

#include "solver/beside_lambda.hpp"
#include "yosida/error.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida {
namespace {

/// out = P(w): ∂L_T/∂λ where every e^λ is 1.
void constraint_terms(const BilevelProblem& problem, const Vector& w, Vector& out) {
  problem.train_gradient_lambda(w, Vector::Zero(out.size()), out);
}

/// out = ∇L⁰(w) + Σ μ_g ∇P_g(w), the gradient of L_T with μ for e^λ.
void lagrangian_gradient(const BilevelProblem& problem, const Vector& w, const Vector& mu, Vector& level,
                         Vector& out) {
  level = mu.array().log();  // −∞ where there is no penalty
  problem.train_gradient(w, level, out);
}

}  // namespace

const std::vector<Setting<BicGaffa::Settings>>& BicGaffa::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("gamma", &Settings::gamma, LowerLimit::positive(), "γ₁ of the envelope in w",
                     "the authors' code, sparse group lasso"),
      settings::real("gamma_dual", &Settings::gamma_dual, LowerLimit::positive(),
                     "γ₂ of the envelope in the multipliers", "the authors' code, sparse group lasso"),
      settings::real("c", &Settings::c, LowerLimit::positive(), "first weight c₀ of the gap, c = c₀(k + 1)^p",
                     "the authors' code, sparse group lasso"),
      settings::real("growth", &Settings::growth, LowerLimit::non_negative(), "its exponent p",
                     "the authors' code, sparse group lasso"),
      settings::real("eta", &Settings::eta, LowerLimit::non_negative(),
                     "step size on θ; 0 takes 1/(largest curvature)", "ours: the authors' is 0.1, absolute"),
      settings::real("alpha", &Settings::alpha, LowerLimit::non_negative(),
                     "step size on w; 0 takes 1/(largest curvature)", "ours: the authors' is 0.01, absolute"),
      settings::real("beta", &Settings::beta, LowerLimit::non_negative(), "step size on r and z",
                     "the authors' code, sparse group lasso"),
  };
  return rows;
}

BicGaffa::State BicGaffa::init(const BilevelProblem& problem, const Start& start) const {
  require_loss_of_any_weights(problem, name);
  if (!problem.traits().has_penalties)
    throw InputError(std::string(name) +
                     ": takes penalties for constraints; the hyperparameters of this problem are none: must "
                     "be a method such as my-hpo, hoag or meha");
  if (problem.traits().validation_depends_on_lambda)
    throw InputError(std::string(name) +
                     ": moves radii in the place of lambda, on which the validation loss of this problem "
                     "depends: must be a method such as my-hpo, hoag or meha");
  State state;
  state.range = with_bounds(problem, start);
  state.lambda = start.lambda;
  state.w = state.theta = starting_weights(problem);
  state.g = state.validation_slope = Vector::Zero(problem.weights());
  state.z = state.lambda.array().exp();
  state.radius = state.mu = state.level = state.terms = Vector::Zero(problem.hyperparameters());
  return state;
}

// The sparse-group script of the authors evaluates the gradient for θ at w; this is the box of their toy
// problem.
void BicGaffa::step(const BilevelProblem& problem, State& state) const {
  auto& w = state.w;
  auto& theta = state.theta;
  auto& g = state.g;
  const double gamma = settings.gamma;
  if (state.k == 0) {
    // The authors also begin at a solved inner problem: its weights say what radii belong to λ.
    problem.inner_solve(state.lambda, {}, w);
    theta = w;
    constraint_terms(problem, w, state.radius);
  }
  const double c = settings.c * std::pow(static_cast<double>(++state.k), settings.growth);

  // θ ← θ − η [∇L⁰(θ) + ∇P(θ)ᵀz + (θ − w)/γ₁]
  const double eta =
      step_or_inverse(settings.eta, state.curvatures.train(problem, state.lambda) + 1.0 / gamma);
  lagrangian_gradient(problem, theta, state.z, state.level, g);
  theta -= eta * (g + (theta - w) / gamma);

  // μ = [z + γ₂(P(w) − r)]₊
  constraint_terms(problem, w, state.terms);
  state.mu = (state.z + settings.gamma_dual * (state.terms - state.radius)).cwiseMax(0.0);

  // w ← w − α [∇L_V(w)/c + ∇L⁰(w) + ∇P(w)ᵀμ − (w − θ)/γ₁]
  const double alpha =
      step_or_inverse(settings.alpha, state.curvatures.train(problem, state.lambda) +
                                          state.curvatures.validation(problem, state.lambda) / c);
  problem.validation_gradient(w, state.lambda, state.validation_slope);
  lagrangian_gradient(problem, w, state.mu, state.level, g);
  w -= alpha * (state.validation_slope / c + g - (w - theta) / gamma);

  // z ← P(z + β [(z − μ)/γ₂ + P(θ) − r]), between the penalties that λ is bounded by
  constraint_terms(problem, theta, state.terms);
  const Vector slope = (state.z - state.mu) / settings.gamma_dual + state.terms - state.radius;

  // r ← [r − β(z − μ)]₊
  state.radius = (state.radius - settings.beta * (state.z - state.mu)).cwiseMax(0.0);
  state.z += settings.beta * slope;
  if (state.z.hasNaN()) {
    state.status = SolverStatus::failed;
    return;
  }
  state.z = state.z.cwiseMax(0.0);
  state.lambda = state.z.array().log();
  state.range.clamp(state.lambda);
  state.z = state.lambda.array().exp();
}

}  // namespace yosida
