#include "response/tangent.hpp"

namespace yosida {

LinearReport Tangent::anchor(const BilevelProblem& problem, double tolerance, SolveMemory* memory) {
  const Vector at = Vector::Constant(1, lambda);
  Vector right(problem.weights());
  problem.cross_product(v, at, Vector::Constant(1, -1.0), right);
  if (phi1.size() == 0) phi1 = Vector::Zero(problem.weights());
  return problem.hessian_solve(v, at, right, {.tolerance = tolerance, .memory = memory}, phi1);
}

void Tangent::respond(double at, Vector& out) const {
  out = v;
  if (phi1.size() > 0) out += (at - lambda) * phi1;
}

}  // namespace yosida
