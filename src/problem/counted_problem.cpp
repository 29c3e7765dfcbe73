#include "problem/counted_problem.hpp"

#include <algorithm>

namespace yosida {

CountedProblem::CountedProblem(const BilevelProblem& problem, std::int64_t limit)
    : ForwardingProblem(problem), limit_(limit) {
  work_.factorisations = problem.setup_work();
}

void CountedProblem::charge(std::int64_t Work::*kind) const {
  if (kind != &Work::loss_evaluations && work_.paper_count() >= limit_) throw BudgetSpent{};
  ++(work_.*kind);
}

double CountedProblem::train_loss(const Vector& w, const Vector& lambda) const {
  charge(&Work::loss_evaluations);
  return problem_.train_loss(w, lambda);
}

void CountedProblem::train_gradient(const Vector& w, const Vector& lambda, Vector& g) const {
  charge(&Work::train_gradients);
  problem_.train_gradient(w, lambda, g);
}

void CountedProblem::hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                     Vector& out) const {
  charge(&Work::hessian_products);
  problem_.hessian_product(w, lambda, p, out);
}

void CountedProblem::cross_product(const Vector& w, const Vector& lambda, const Vector& q,
                                   Vector& out) const {
  work_ += problem_.cross_work();
  problem_.cross_product(w, lambda, q, out);
}

void CountedProblem::cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                              Vector& out) const {
  work_ += problem_.cross_work();
  problem_.cross_product_transposed(w, lambda, p, out);
}

double CountedProblem::validation_loss(const Vector& w) const {
  charge(&Work::loss_evaluations);
  return problem_.validation_loss(w);
}

double CountedProblem::validation_gradient(const Vector& w, Vector& g) const {
  charge(&Work::validation_gradients);
  return problem_.validation_gradient(w, g);
}

void CountedProblem::validation_hessian_product(const Vector& w, const Vector& p, Vector& out) const {
  charge(&Work::hessian_products);
  problem_.validation_hessian_product(w, p, out);
}

InnerReport CountedProblem::inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const {
  InnerOptions limited = options;
  limited.max_count = std::min(options.max_count, limit_ - work_.paper_count());
  if (limited.max_count < 1) throw BudgetSpent{};
  const InnerReport report = problem_.inner_solve(lambda, limited, w);
  if (report.setup > setup_paid_) {
    work_.factorisations += report.setup - setup_paid_;
    setup_paid_ = report.setup;
  }
  work_ += report.work;
  ++work_.inner_solves;
  if (!report.converged && report.work.paper_count() >= limited.max_count) throw BudgetSpent{};
  return report;
}

LinearReport CountedProblem::hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                                           const LinearOptions& options, Vector& x) const {
  return within_limit(options, [&](const LinearOptions& limited) {
    return problem_.hessian_solve(w, lambda, b, limited, x);
  });
}

LinearReport CountedProblem::hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                                const LinearOptions& options, Matrix& x) const {
  return within_limit(options, [&](const LinearOptions& limited) {
    return problem_.hessian_solve_many(w, lambda, b, limited, x);
  });
}

LinearReport CountedProblem::within_limit(const LinearOptions& options,
                                          FunctionRef<LinearReport(const LinearOptions&)> solve) const {
  LinearOptions limited = options;
  limited.max_count = std::min(options.max_count, limit_ - work_.paper_count());
  if (limited.max_count < 1) throw BudgetSpent{};
  const LinearReport report = solve(limited);
  work_ += report.work;
  if (!report.converged && report.work.paper_count() >= limited.max_count) throw BudgetSpent{};
  return report;
}

CurvePoint CountedProblem::closed_form(double lambda) const {
  const CurvePoint point = problem_.closed_form(lambda);
  work_.factorisations += point.work;
  return point;
}

void CountedProblem::certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const {
  const Work work = problem_.certificate_work();
  if (work.paper_count() > 0 && work_.paper_count() + work.paper_count() > limit_) throw BudgetSpent{};
  work_ += work;
  problem_.certificate_scale(w, lambda, out);
}

void CountedProblem::fit_intercept(Vector& w) const {
  work_ += problem_.intercept_work();
  problem_.fit_intercept(w);
}

}  // namespace yosida
