#pragma once

#include "problem/forwarding_problem.hpp"
#include "yosida/linalg/function_ref.hpp"

namespace yosida {

/// Thrown by a CountedProblem before the call that would exceed its limit.
struct BudgetSpent {};

/// The work counter around a problem: forwards every call and counts what touches the data. For one
/// run in one thread; the problem itself may be shared.
class CountedProblem final : public ForwardingProblem {
 public:
  /// `limit`: the largest paper_count allowed.
  explicit CountedProblem(const BilevelProblem& problem,
                          std::int64_t limit = std::numeric_limits<std::int64_t>::max());

  const Work& work() const { return work_; }

  double train_loss(const Vector& w, const Vector& lambda) const override;
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  double validation_loss(const Vector& w) const override;
  double validation_gradient(const Vector& w, Vector& g) const override;
  void validation_hessian_product(const Vector& w, const Vector& p, Vector& out) const override;
  CurvePoint closed_form(double lambda) const override;
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override;
  LinearReport hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                  const LinearOptions& options, Matrix& x) const override;
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  void fit_intercept(Vector& w) const override;

 private:
  /// A linear solve held to what is left of the limit, its work counted.
  LinearReport within_limit(const LinearOptions& options,
                            FunctionRef<LinearReport(const LinearOptions&)> solve) const;
  /// Counts one more of `kind`, or throws where the limit does not allow it.
  void charge(std::int64_t Work::*kind) const;

  std::int64_t limit_;
  mutable Work work_;
  mutable double setup_paid_ = 0.0;  // of what inner solves compute once and keep
};

}  // namespace yosida
