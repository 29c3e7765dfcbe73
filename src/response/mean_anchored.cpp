#include "yosida/response/mean_anchored.hpp"

#include <cmath>

namespace yosida {

void MeanAnchored::anchor(const BilevelProblem& problem, const Vector& v, double lambda) {
  const Vector& ones = problem.ones();
  const double mean = ones.dot(v) / ones.squaredNorm();
  phi0.noalias() = mean * ones;
  phi0.tail(problem.intercepts()) = v.tail(problem.intercepts());
  phi1.noalias() = (v - phi0) / lambda;
  is_flat = std::abs(lambda) * phi1.norm() <= 1e-12 * std::abs(mean) * ones.norm();
}

}  // namespace yosida
