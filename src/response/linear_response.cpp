#include "yosida/response/linear_response.hpp"

#include "response/mean_anchored.hpp"
#include "response/tangent.hpp"

namespace yosida {
namespace {

constexpr double kTangentTolerance = 1e-8;
/// How far from λ a hypernetwork is trained, and how many steps it takes each time.
constexpr double kReach = 0.5;
constexpr int kLearningSteps = 10;

/// φ₁ ← φ₁ − α (λ̂ − λ) ∇L_T(G(λ̂), λ̂) with λ̂ = λ ± kReach in turn, α the exact step of the quadratic model.
void learn_slope(const BilevelProblem& problem, const Vector& v, double lambda, Vector& phi1) {
  Vector w(v.size()), g(v.size()), product(v.size());
  for (int step = 0; step < kLearningSteps; ++step) {
    const double away = step % 2 == 0 ? kReach : -kReach;
    const Vector at = Vector::Constant(1, lambda + away);
    w = v + away * phi1;
    problem.train_gradient(w, at, g);
    problem.hessian_product(w, at, g, product);
    const double curvature = g.dot(product);
    if (!(curvature > 0.0)) return;
    phi1 -= (g.squaredNorm() / curvature / away) * g;
  }
}

}  // namespace

const std::vector<std::string>& response_names() {
  static const std::vector<std::string> names = {"mean-anchored", "tangent", "hypernetwork"};
  return names;
}

void anchor(ResponseKind kind, const BilevelProblem& problem, const Vector& v, double lambda,
            LinearResponse& response) {
  if (kind == ResponseKind::mean_anchored) {
    anchor_at_mean(problem, v, lambda, response);
    return;
  }
  if (kind == ResponseKind::tangent) {
    Tangent tangent{.lambda = lambda, .v = v, .phi1 = response.phi1};
    tangent.anchor(problem, kTangentTolerance);
    response.phi1 = tangent.phi1;
  } else {
    learn_slope(problem, v, lambda, response.phi1);
  }
  response.phi0 = v - lambda * response.phi1;
  response.is_flat = response.phi1.isZero(0.0);
}

}  // namespace yosida
