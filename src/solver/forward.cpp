#include "yosida/solver/forward.hpp"

#include <vector>

#include "solver/direct_term.hpp"
#include "solver/unrolled.hpp"

namespace yosida {

double forward_hypergradient(const BilevelProblem& problem, const Vector& lambda, double alpha,
                             std::int64_t steps, Vector& w, Vector& gradient) {
  require_sizes(problem, w, lambda);
  gradient.resize(lambda.size());
  Vector g(w.size());
  Vector product(w.size());
  Vector column(w.size());
  // Z_0 = 0, one tangent for each hyperparameter
  std::vector<Vector> z(static_cast<std::size_t>(lambda.size()), Vector::Zero(w.size()));

  for (std::int64_t t = 0; t < steps; ++t) {
    // Z_{t+1} = (I − α H(w_t)) Z_t − α C(w_t)
    for (std::size_t j = 0; j < z.size(); ++j) {
      problem.cross_product(w, lambda, Vector::Unit(lambda.size(), static_cast<Index>(j)), column);
      if (t > 0) {  // Z_0 = 0 needs no product
        problem.hessian_product(w, lambda, z[j], product);
        column += product;
      }
      z[j] -= alpha * column;
    }
    // w_{t+1} = w_t − α ∇L_T(w_t, λ)
    problem.train_gradient(w, lambda, g);
    w -= alpha * g;
  }

  // dλ = Z_Tᵀ ∇L_V(w_T) + ∂L_V/∂λ
  const double validation = problem.validation_gradient(w, lambda, g);
  for (std::size_t j = 0; j < z.size(); ++j) gradient[static_cast<Index>(j)] = z[j].dot(g);
  add_direct_term(problem, w, lambda, gradient);
  return validation;
}

Forward::State Forward::init(const BilevelProblem& problem, const Start& start) const {
  return unrolled_init(problem, start, name);
}

void Forward::step(const BilevelProblem& problem, State& state) const {
  unrolled_step(problem, settings, forward_hypergradient, state);
}

}  // namespace yosida
