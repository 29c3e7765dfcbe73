#include "yosida/response/mean_anchored.hpp"

namespace yosida {

void MeanAnchored::anchor(const BilevelProblem& problem, const Vector& v, double lambda) {
  const Vector& ones = problem.ones();
  phi0.noalias() = (ones.dot(v) / ones.squaredNorm()) * ones;
  if (problem.has_intercept()) phi0[v.size() - 1] = v[v.size() - 1];
  phi1.noalias() = (v - phi0) / lambda;
}

}  // namespace yosida
