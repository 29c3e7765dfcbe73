#include "solver/simplified.hpp"

#include <cmath>

#include "solver/direct_term.hpp"
#include "solver/one_lambda.hpp"

namespace yosida {

SimplifiedState simplified_init(const BilevelProblem& problem, const Start& start, const char* method) {
  require_one_lambda(problem, method);
  require_off_pole(start, method);
  require_loss_of_any_weights(problem, method);
  SimplifiedState state;
  state.range = start;
  state.lambda = state.trial_lambda = start.lambda;
  state.u = state.g = state.p = state.r = state.trial = Vector::Zero(problem.weights());
  state.phi.phi0 = state.phi.phi1 = state.u;
  state.v = state.w = starting_weights(problem);
  return state;
}

void w_direction(const BilevelProblem& problem, WGradient which, double rho, SimplifiedState& state) {
  if (which == WGradient::own) problem.train_gradient(state.w, state.lambda, state.g);
  state.p = state.g + state.u + rho * (state.w - state.v);
  drop_intercept(problem, state.p);
}

void require_rest(SimplifiedState& state, double epsilon, double train_gradient, double slope,
                  double validation_gradient) {
  if (state.first_gradient == 0.0) state.first_gradient = train_gradient;
  const bool is_at_rest = train_gradient <= epsilon * state.first_gradient &&
                          std::abs(slope) <= epsilon * state.phi.phi1.norm() * validation_gradient;
  if (!is_at_rest) state.status = SolverStatus::running;
}

}  // namespace yosida
