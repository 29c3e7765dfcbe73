#include "response/mean_anchored.hpp"

#include <cmath>

namespace yosida {

void anchor_at_mean(const BilevelProblem& problem, const Vector& v, double lambda, LinearResponse& response) {
  auto& [phi0, phi1, is_flat] = response;
  const Index intercepts = problem.intercepts();
  const Vector& ones = problem.traits().ones;
  double size = 0.0;  // ‖v̄ 1‖
  if (ones.size() > 0) {
    const double mean = ones.dot(v) / ones.squaredNorm();
    phi0.noalias() = mean * ones;
    size = std::abs(mean) * ones.norm();
  } else {
    phi0.setConstant(v.size(), v.head(v.size() - intercepts).mean());
    size = phi0.head(v.size() - intercepts).norm();
  }
  phi0.tail(intercepts) = v.tail(intercepts);
  phi1.noalias() = (v - phi0) / lambda;
  is_flat = std::abs(lambda) * phi1.norm() <= 1e-12 * size;
}

}  // namespace yosida
