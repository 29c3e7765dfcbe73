#pragma once

#include <memory>
#include <utility>

#include "yosida/problem/linear_problem.hpp"

namespace yosida {

/// What the forms of a least-squares LinearProblem with one λ on all weights share. Their coordinates are
/// rank() numbers a of the length that the weights have, and one for the intercept, where there is one: so
/// the penalty is e^λ ‖a‖².
class LeastSquaresForm : public BilevelProblem {
 public:
  Index weights() const override { return rank() + (intercept_ ? 1 : 0); }
  Index hyperparameters() const override { return 1; }
  Index intercepts() const override { return intercept_ ? 1 : 0; }
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override;
  Losses losses(const Vector& w, const Vector& lambda) const override;

 protected:
  explicit LeastSquaresForm(std::shared_ptr<const LinearProblem> direct)
      : direct_(std::move(direct)), intercept_(direct_->intercepts() > 0) {}
  virtual Index rank() const = 0;
  /// What is no gradient counts by its operations.
  double work_of(double flops) const;

  const std::shared_ptr<const LinearProblem> direct_;
  const bool intercept_;
};

}  // namespace yosida
