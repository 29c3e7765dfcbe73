#include "yosida/solver/penalty_method.hpp"

#include "linalg/safe_norm.hpp"
#include "solver/direct_term.hpp"
#include "solver/lambda_range.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida {
namespace {

/// multiplier = ν + ρ∇L_T(w, λ)
void update_multiplier(const BilevelProblem& problem, PenaltyMethod::State& state) {
  problem.train_gradient(state.w, state.lambda, state.train);
  state.multiplier = state.nu + state.rho * state.train;
}

/// 1/L of the objective in w, whose Hessian is ∇²L_V + ρH² + μH where L_T is quadratic.
double w_step_size(const BilevelProblem& problem, PenaltyMethod::State& state) {
  if (!state.curvature.has_begun()) {
    problem.validation_gradient(state.w, state.lambda, state.g);
    state.curvature.begin(state.g);
  }
  const Vector zero = starting_weights(problem);
  Vector h(problem.weights());
  Vector second(problem.weights());
  const double curvature = state.curvature.of([&](const Vector& p, Vector& out) {
    problem.validation_hessian_product(zero, state.lambda, p, out);
    problem.hessian_product(zero, state.lambda, p, h);
    problem.hessian_product(zero, state.lambda, h, second);
    out += state.rho * second + state.mu * h;
  });
  return curvature > 0.0 ? 1.0 / curvature : 1.0;
}

}  // namespace

const std::vector<Setting<PenaltyMethod::Settings>>& PenaltyMethod::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::count("steps", &Settings::steps, "steps on w for each step on λ",
                      "ours: w must follow λ; the authors leave it open"),
      settings::real("alpha", &Settings::alpha, LowerLimit::non_negative(),
                     "step size on w; 0 takes 1/(largest curvature)",
                     "ours: the largest step that is sure not to diverge"),
      settings::real("beta", &Settings::beta, LowerLimit::non_negative(),
                     "step size on λ, along the gradient over L_V", "ours: w must be able to follow"),
      settings::real("rho", &Settings::rho, LowerLimit::positive(),
                     "first weight of ‖∇L_T‖²/2, over the largest curvature of L_T at the lowest λ",
                     "ours: strong enough that the first w is near a trained one"),
      settings::real("growth", &Settings::growth, LowerLimit{1.0, true}, "what ρ is multiplied by",
                     "ours: the authors' code doubles it"),
      settings::real("mu", &Settings::mu, LowerLimit::non_negative(), "first weight of L_T in w",
                     "ours: small, so that λ is chosen by L_V; the authors' code starts at 1"),
      settings::real("epsilon", &Settings::epsilon, LowerLimit::positive(),
                     "first relative size of both gradients under which ρ and ν are raised",
                     "ours: the authors' is 0.01, absolute"),
      settings::fraction("shrink", &Settings::shrink, "what ε and μ are multiplied by when ρ is raised",
                         "ours: the authors' code halves them"),
  };
  return rows;
}

PenaltyMethod::State PenaltyMethod::init(const BilevelProblem& problem, const Start& start) const {
  require_loss_of_any_weights(problem, name);
  State state;
  state.range = with_bounds(problem, start);
  state.lambda = start.lambda;
  state.mu = settings.mu;
  state.epsilon = settings.epsilon;
  state.nu = state.train = state.multiplier = state.g = state.product = Vector::Zero(problem.weights());
  state.lambda_slope = Vector::Zero(problem.hyperparameters());
  state.w = starting_weights(problem);
  return state;
}

void PenaltyMethod::step(const BilevelProblem& problem, State& state) const {
  auto& w = state.w;
  auto& g = state.g;
  if (state.rho == 0.0) {
    // Deviation: in units of the data's curvature, so that the scale of the features does not matter.
    CurvatureIteration largest;
    const double curvature = train_curvature(problem, state.range.low, largest);
    state.rho = settings.rho / (curvature > 0.0 ? curvature : 1.0);
  }
  const double alpha = settings.alpha > 0.0 ? settings.alpha : w_step_size(problem, state);

  // w ← w − α [∇L_V + H (ν + ρ∇L_T) + μ∇L_T], a few times
  double validation = 0.0;
  double validation_slope = 0.0;
  for (std::int64_t t = 0; t < settings.steps; ++t) {
    update_multiplier(problem, state);
    validation = problem.validation_gradient(w, state.lambda, g);
    validation_slope = safe_norm(g);
    problem.hessian_product(w, state.lambda, state.multiplier, state.product);
    g += state.product + state.mu * state.train;
    w -= alpha * g;
  }
  const double w_slope = safe_norm(g);

  // λ ← P(λ − β [∂L_V/∂λ + Cᵀ (ν + ρ∇L_T)] / L_V)
  // Deviation: over L_V, so that the scale of the targets does not matter to β.
  update_multiplier(problem, state);
  problem.cross_product_transposed(w, state.lambda, state.multiplier, state.lambda_slope);
  add_direct_term(problem, w, state.lambda, state.lambda_slope);
  if (validation > 0.0) descend_lambda(state.range, settings.beta * state.lambda_slope / validation, state);

  // Where both gradients are small: ν ← ν + ρ∇L_T, ρ ← growth ρ, ε and μ shrink
  if (w_slope <= state.epsilon * validation_slope &&
      safe_norm(state.lambda_slope) <= state.epsilon * validation) {
    state.nu = state.multiplier;
    state.rho *= settings.growth;
    state.mu *= settings.shrink;
    state.epsilon *= settings.shrink;
  }
}

}  // namespace yosida
