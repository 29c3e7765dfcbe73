#pragma once

#include <memory>
#include <mutex>

#include "yosida/data/split.hpp"
#include "yosida/model/loss.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// A linear model with an ℓ₂ penalty:
///   L_T(w, λ) = 1/N_T Σ ℓ(xᵀw + b, y) + e^λ ‖w‖²,   L_V(w) = 1/N_V Σ ℓ(xᵀw + b, y).
/// The penalty has no ½ and leaves the intercept b alone. Each gradient reads the design once.
class LinearProblem : public BilevelProblem {
 public:
  LinearProblem(Split split, const Loss& loss, bool intercept);
  ~LinearProblem() override;

  const Split& split() const { return split_; }
  const Loss& loss() const { return loss_; }

  Index weights() const override { return features() + (intercept_ ? 1 : 0); }
  Index hyperparameters() const override { return 1; }
  Index intercepts() const override { return intercept_ ? 1 : 0; }
  double train_loss(const Vector& w, const Vector& lambda) const override;
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  double validation_loss(const Vector& w) const override;
  double validation_gradient(const Vector& w, Vector& g) const override;
  void validation_hessian_product(const Vector& w, const Vector& p, Vector& out) const override;
  /// Newton's method: by Cholesky in the smaller of feature space and row space, by conjugate
  /// gradients where both are large.
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override;
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  void fit_intercept(Vector& w) const override;
  Work intercept_work() const override;
  const Vector& ones() const override { return ones_; }
  Losses losses(const Vector& w) const override;

 private:
  struct RowSpace;
  Index features() const { return split_.train.features(); }
  const RowSpace& row_space() const;
  /// Inner solves go through the span of the training rows.
  bool solves_in_row_space() const;

  Split split_;
  const Loss& loss_;
  bool intercept_;
  Vector ones_;
  Vector train_mean_;              // x̄ of the training rows, where an intercept needs it
  double target_mean_ = 0.0;       // ȳ
  double gradient_at_zero_ = 0.0;  // its norm: the measure of inner tolerances
  mutable std::once_flag row_space_once_;
  mutable std::unique_ptr<RowSpace> row_space_;
};

/// Mean loss of w (intercept last where `intercept`) over a data set.
double mean_loss(const Dataset& data, const Loss& loss, bool intercept, const Vector& w);

/// xᵀw + b for every row of a data set.
Vector margins(const Dataset& data, bool intercept, const Vector& w);

}  // namespace yosida
