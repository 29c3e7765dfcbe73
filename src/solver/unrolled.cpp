#include "solver/unrolled.hpp"

#include "solver/direct_term.hpp"
#include "solver/lambda_range.hpp"
#include "yosida/setting_rules.hpp"

namespace yosida {
namespace {

/// α where it is given, else 1/L at this λ.
double inner_step_size(const BilevelProblem& problem, const UnrolledSettings& settings,
                       UnrolledState& state) {
  if (settings.alpha > 0.0) return settings.alpha;
  const double curvature = train_curvature(problem, state.lambda, state.curvature);
  return curvature > 0.0 ? 1.0 / curvature : 1.0;
}

}  // namespace

const std::vector<Setting<UnrolledSettings>>& unrolled_table() {
  using Settings = UnrolledSettings;
  static const std::vector<Setting<Settings>> rows = {
      settings::count("steps", &Settings::steps, "gradient steps of the inner problem an iteration",
                      "ours: papers take 100 to 4000; w goes on from where it was, so few suffice"),
      settings::real("alpha", &Settings::alpha, LowerLimit::non_negative(),
                     "size of these steps; 0 takes 1/(largest curvature)",
                     "ours: the largest step that is sure not to diverge"),
      settings::real("beta", &Settings::beta, LowerLimit::non_negative(),
                     "step size on λ, along the gradient of log L_V",
                     "ours: of 1 to 10, which are safe where penalties are e^λ"),
  };
  return rows;
}

UnrolledState unrolled_init(const BilevelProblem& problem, const Start& start, const char* method) {
  require_loss_of_any_weights(problem, method);
  UnrolledState state;
  state.range = with_bounds(problem, start);
  state.lambda = start.lambda;
  state.hypergradient = Vector::Zero(problem.hyperparameters());
  state.w = starting_weights(problem);
  return state;
}

// The algorithm's loop, begun at its last line: so the w of an iterate was trained under its λ.
void unrolled_step(const BilevelProblem& problem, const UnrolledSettings& settings,
                   UnrolledHypergradient* hypergradient, UnrolledState& state) {
  // λ = P(λ − β d log L_V(w_T)/dλ)
  // Deviation: of the logarithm, so that the scale of the targets does not matter to β.
  if (state.validation > 0.0)
    descend_lambda(state.range, settings.beta * state.hypergradient / state.validation, state);
  if (state.status == SolverStatus::failed) return;

  // w_T and dL_V(w_T)/dλ
  // Deviation: w_0 is the last w_T, not the same start each time; its own dependence on λ is left out.
  const double alpha = inner_step_size(problem, settings, state);
  state.validation =
      hypergradient(problem, state.lambda, alpha, settings.steps, state.w, state.hypergradient);
}

}  // namespace yosida
