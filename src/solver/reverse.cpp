#include "yosida/solver/reverse.hpp"

#include <vector>

#include "solver/direct_term.hpp"
#include "solver/unrolled.hpp"

namespace yosida {

double reverse_hypergradient(const BilevelProblem& problem, const Vector& lambda, double alpha,
                             std::int64_t steps, Vector& w, Vector& gradient) {
  require_sizes(problem, w, lambda);
  gradient.resize(lambda.size());
  Vector g(w.size());
  Vector c(lambda.size());
  std::vector<Vector> path;  // w_0 … w_{T−1}

  // w_{t+1} = w_t − α ∇L_T(w_t, λ)
  for (std::int64_t t = 0; t < steps; ++t) {
    path.push_back(w);
    problem.train_gradient(w, lambda, g);
    w -= alpha * g;
  }

  // a_T = ∇L_V(w_T);  dλ = ∂L_V/∂λ;  back along the path: dλ += −α C(w_t)ᵀ a_{t+1},  a_t = a_{t+1} − α H(w_t)
  // a_{t+1}
  Vector a(w.size());
  const double validation = problem.validation_gradient(w, lambda, a);
  gradient.setZero();
  add_direct_term(problem, w, lambda, gradient);
  for (auto w_t = path.rbegin(); w_t != path.rend(); ++w_t) {
    problem.cross_product_transposed(*w_t, lambda, a, c);
    gradient -= alpha * c;
    if (w_t + 1 == path.rend()) break;  // w_0 does not depend on λ
    problem.hessian_product(*w_t, lambda, a, g);
    a -= alpha * g;
  }
  return validation;
}

Reverse::State Reverse::init(const BilevelProblem& problem, const Start& start) const {
  return unrolled_init(problem, start, name);
}

void Reverse::step(const BilevelProblem& problem, State& state) const {
  unrolled_step(problem, settings, reverse_hypergradient, state);
}

}  // namespace yosida
