#include "yosida/problem/bilevel_problem.hpp"

#include <algorithm>
#include <stdexcept>

#include "linalg/factor.hpp"

namespace yosida {

double certificate_scale_of(double kappa, double penalty) {
  if (!(kappa > 0.0) || !(penalty > 0.0)) return 1.0;
  return std::max(1.0, std::max(kappa / penalty, penalty / kappa));
}

LinearReport BilevelProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                           const LinearOptions& options, Vector& x) const {
  const double tolerance = options.tolerance * b.norm();
  const auto apply = [&](const Vector& p, Vector& out) { hessian_product(w, lambda, p, out); };
  const CgReport cg =
      conjugate_gradients(apply, b, x, tolerance, std::min<std::int64_t>(options.max_count, 10 * weights()));
  LinearReport report;
  report.residual_norm = cg.residual_norm;
  report.converged = cg.residual_norm <= tolerance;
  report.work.hessian_products = cg.products;
  return report;
}

LinearReport BilevelProblem::hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                                const LinearOptions& options, Matrix& x) const {
  LinearReport all;
  all.converged = true;
  LinearOptions left = options;
  Vector column(b.rows());
  for (Index j = 0; j < b.cols(); ++j) {
    column = x.col(j);
    const LinearReport each = hessian_solve(w, lambda, b.col(j), left, column);
    x.col(j) = column;
    all.work += each.work;
    all.converged &= each.converged;
    all.residual_norm = std::max(all.residual_norm, each.residual_norm);
    left.max_count = std::max<std::int64_t>(options.max_count - all.work.paper_count(), 1);
  }
  return all;
}

CurvePoint BilevelProblem::closed_form(double) const {
  throw std::logic_error("closed_form: this problem has none");
}

void BilevelProblem::certificate_scale(const Vector&, const Vector&, Vector& out) const { out.setOnes(); }

Work BilevelProblem::certificate_work() const {
  Work work;
  work.hessian_products = 1;
  return work;
}

}  // namespace yosida
