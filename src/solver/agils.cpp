#include "yosida/solver/agils.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/beside_lambda.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida {
namespace {

/// No more steps on θ than this, whatever the tolerance.
constexpr std::int64_t kMostSteps = 10000;
/// What is added to the curvature on w.
constexpr double kSlack = 0.1;

/// max(s_k, τ_k × an earlier res): what θ is trained to. s_1 where there is no earlier one, or that is
/// larger.
double tolerance_of(std::int64_t k, double earlier) {
  const auto s = [](double at) { return 5.0 / std::pow(at, 1.05); };
  const double tau = 10.0 / std::pow(static_cast<double>(k), 0.2);
  return std::max(s(static_cast<double>(k)), std::min(tau * earlier, s(1.0)));
}

/// θ ← prox_η(θ − η [∇f(θ, λ) + (θ − w)/γ]) until res = ‖θ − its successor‖ ≤ tolerance; returns res.
double train_theta(const BilevelProblem& problem, double tolerance, Agils::State& state) {
  const double curvature = state.scale * state.curvatures.train(problem, state.lambda);
  const double eta = 1.0 / (curvature + 1.0 / state.gamma);
  double residual = 0.0;
  for (std::int64_t t = 0; t < kMostSteps; ++t) {
    problem.smooth_gradient(state.theta, state.lambda, state.g);
    state.next_theta = state.theta - eta * (state.scale * state.g + (state.theta - state.w) / state.gamma);
    problem.proximal_step(eta * state.scale, state.lambda, state.next_theta);
    residual = (state.next_theta - state.theta).norm();
    if (!(residual > tolerance)) break;
    state.theta = state.next_theta;
  }
  return residual;
}

/// t = [L_T(w) − L_T(θ) − ‖θ − w‖²/(2γ) − ε]₊, how much the constraint is violated
double violation(const BilevelProblem& problem, double epsilon, const Agils::State& state) {
  const double above = state.scale * (problem.train_loss(state.w, state.lambda) -
                                      problem.train_loss(state.theta, state.lambda));
  return std::max(above - (state.theta - state.w).squaredNorm() / (2.0 * state.gamma) - epsilon, 0.0);
}

/// Takes w*(λ) for w where that lowers L_V/p + t; its own t is 0.
bool take_trained_weights(const BilevelProblem& problem, double t, Agils::State& state) {
  state.next_theta = state.w;
  problem.inner_solve(state.lambda, {}, state.next_theta);
  const double trained = problem.validation_loss(state.next_theta, state.lambda);
  const double own = problem.validation_loss(state.w, state.lambda);
  if (!(state.scale * trained / state.p < state.scale * own / state.p + t)) return false;
  state.w = state.theta = state.next_theta;
  return true;
}

}  // namespace

// No code of the authors was found: the origin of most defaults is a third party's transcription of the
// paper.
const std::vector<Setting<Agils::Settings>>& Agils::table() {
  static const std::vector<Setting<Settings>> rows = {
      settings::real("scale", &Settings::scale, LowerLimit::non_negative(),
                     "what both losses are multiplied by; 0 takes the number of training rows",
                     "the paper's losses are sums; with means its settings end at once"),
      settings::real("gamma", &Settings::gamma, LowerLimit::non_negative(),
                     "γ of the envelope; 0 takes 1/(number of weights)", "the paper, as transcribed"),
      settings::real("epsilon", &Settings::epsilon, LowerLimit::non_negative(),
                     "what the constraint may be violated by", "the paper, as transcribed"),
      settings::real("p", &Settings::p, LowerLimit::positive(), "first weight p of the constraint",
                     "the paper, as transcribed"),
      settings::real("growth", &Settings::growth, LowerLimit::non_negative(), "what p grows by",
                     "the paper, as transcribed"),
      settings::real("rest", &Settings::rest, LowerLimit::non_negative(),
                     "c_p: p may grow where a step is shorter than c_p min(1/p, t)",
                     "the paper, as transcribed"),
      settings::real("near", &Settings::near, LowerLimit::positive(),
                     "c_y over √d: p grows where ‖w − θ‖ ≤ c_y γ/p", "the paper, as transcribed"),
      settings::real("beta", &Settings::beta, LowerLimit::non_negative(),
                     "step size on λ (the paper's α); 0 takes 5/L_V at the start",
                     "ours: the paper's is 1/1.1, absolute"),
      settings::real("tolerance", &Settings::tolerance, LowerLimit::non_negative(),
                     "converged where a relative step is under tolerance/d and t < 0.1; 0: never",
                     "the paper, as transcribed"),
  };
  return rows;
}

Agils::State Agils::init(const BilevelProblem& problem, const Start& start) const {
  require_loss_of_any_weights(problem, name);
  State state;
  state.range = with_bounds(problem, start);
  state.lambda = state.previous_lambda = start.lambda;
  state.w = state.theta = state.next_theta = state.previous_w = starting_weights(problem);
  state.g = state.validation_slope = Vector::Zero(problem.weights());
  state.lambda_slope = state.scratch = Vector::Zero(problem.hyperparameters());
  const auto rows = static_cast<double>(std::max<Index>(1, problem.traits().train_rows));
  state.scale = settings.scale > 0.0 ? settings.scale : rows;
  state.gamma = settings.gamma > 0.0 ? settings.gamma : 1.0 / static_cast<double>(problem.weights());
  state.p = settings.p;
  state.beta = settings.beta;
  return state;
}

void Agils::step(const BilevelProblem& problem, State& state) const {
  auto& w = state.w;
  const auto d = static_cast<double>(problem.weights());
  const double scale = state.scale;
  ++state.k;
  state.previous_w = w;
  state.previous_lambda = state.lambda;
  const double validation = problem.validation_gradient(w, state.lambda, state.validation_slope);
  if (state.beta == 0.0) state.beta = default_lambda_step(scale * validation);

  // w ← prox_α(w − α [∇L_V(w)/p + ∇f(w, λ) − (w − θ)/γ]),  α = 1/(L_V's curvature/p + f's + 0.1)
  const double alpha = 1.0 / (scale * state.curvatures.validation(problem, state.lambda) / state.p +
                              scale * state.curvatures.train(problem, state.lambda) + kSlack);
  problem.smooth_gradient(w, state.lambda, state.g);
  w -= alpha * (scale / state.p * state.validation_slope + scale * state.g - (w - state.theta) / state.gamma);
  problem.proximal_step(alpha * scale, state.lambda, w);

  // θ trained at (λ, w) to res ≤ max(s_k, τ_k × res of the last iterate but one)
  train_theta(problem, tolerance_of(state.k, state.previous_residual), state);

  // λ ← P(λ − β [∂L_V/∂λ / p + ∂L_T/∂λ(w) − ∂L_T/∂λ(θ)])
  train_gradient_lambda_beyond(problem, w, state.theta, state.lambda, state.lambda_slope, state.scratch);
  state.lambda_slope *= state.p;
  add_direct_term(problem, w, state.lambda, state.lambda_slope);
  descend_lambda(state.range, state.beta * scale / state.p * state.lambda_slope, state);
  if (state.status == SolverStatus::failed) return;

  // θ trained at the new λ to res ≤ max(s_{k+1}, τ_{k+1} × res of the last iterate)
  const double residual = train_theta(problem, tolerance_of(state.k + 1, state.residual), state);
  state.previous_residual = std::exchange(state.residual, residual);

  // Where (w, λ) has come to rest: p grows, or w*(λ) is taken for w where that is better
  const double move =
      std::hypot((w - state.previous_w).norm(), (state.lambda - state.previous_lambda).norm());
  const double t = violation(problem, settings.epsilon, state);
  const bool is_near = (w - state.theta).norm() <= settings.near * std::sqrt(d) * state.gamma / state.p;
  if (move < settings.rest * std::min(1.0 / state.p, t) &&
      (is_near || !take_trained_weights(problem, t, state)))
    state.p += settings.growth;

  // converged: ‖step‖ < tolerance/d × size of (w, λ), t < 0.1
  const double size = std::hypot(state.previous_w.norm(), state.previous_lambda.norm());
  if (move < settings.tolerance / d * size && t < 0.1) state.status = SolverStatus::converged;
}

}  // namespace yosida
