#pragma once

#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// Thrown by a CountedProblem before the call that would exceed its limit.
struct BudgetSpent {};

/// The work counter around a problem: forwards every call and counts it.
class CountedProblem final : public BilevelProblem {
 public:
  /// `limit`: the largest paper_count allowed.
  explicit CountedProblem(const BilevelProblem& problem,
                          std::int64_t limit = std::numeric_limits<std::int64_t>::max());

  const Work& work() const { return work_; }
  const BilevelProblem& uncounted() const { return problem_; }

  Index weights() const override { return problem_.weights(); }
  Index hyperparameters() const override { return problem_.hyperparameters(); }
  bool has_intercept() const override { return problem_.has_intercept(); }
  double train_loss(const Vector& w, const Vector& lambda) const override;
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  double validation_loss(const Vector& w) const override;
  void validation_gradient(const Vector& w, Vector& g) const override;
  void validation_hessian_product(const Vector& w, const Vector& p, Vector& out) const override;
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  void fit_intercept(Vector& w) const override;
  Work intercept_work() const override { return problem_.intercept_work(); }
  const Vector& ones() const override { return problem_.ones(); }
  Vector expand(const Vector& w) const override { return problem_.expand(w); }
  double setup_work() const override { return problem_.setup_work(); }
  Losses losses(const Vector& w) const override { return problem_.losses(w); }

 private:
  /// Counts one more of `kind`, or throws where the limit does not allow it.
  void charge(std::int64_t Work::*kind) const;

  const BilevelProblem& problem_;
  std::int64_t limit_;
  mutable Work work_;
};

}  // namespace yosida
