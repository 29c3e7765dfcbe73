#include "solver/residuals.hpp"

#include <algorithm>
#include <cmath>

namespace yosida {

void update_residuals(const BilevelProblem& problem, const LinearResponse& phi, double lambda, double rho,
                      double epsilon, const Vector& u, Vector& r, Iterate& state) {
  const Index penalised = r.size() - problem.intercepts();
  phi.respond(state.lambda[0], r);
  const double response_norm = r.head(penalised).norm();
  r = state.w - r;
  r.tail(r.size() - penalised).setZero();
  state.primal_residual = r.norm();
  state.dual_residual = rho * std::abs(state.lambda[0] - lambda) * phi.phi1.norm();
  const double scale = std::max(state.w.head(penalised).norm(), response_norm);
  state.has_flat_response = phi.is_flat;
  const bool is_small = epsilon > 0.0 && state.primal_residual <= epsilon * scale &&
                        state.dual_residual <= epsilon * std::max(u.norm(), rho * scale);
  state.status = is_small ? SolverStatus::converged : SolverStatus::running;
}

}  // namespace yosida
