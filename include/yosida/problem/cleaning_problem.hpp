#pragma once

#include "yosida/data/split.hpp"
#include "yosida/export.hpp"
#include "yosida/model/loss.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace YOSIDA_EXPORT yosida {

class DataTerm;

/// Data cleaning: which training rows to trust, one λ for each.
///   L_T(w, λ) = 1/N_T Σ σ(λ_i) s_i ℓ(xᵀw + b, y) + c ‖w‖²,   L_V(w) = 1/N_V Σ s_i ℓ(xᵀw + b, y),
/// with σ the logistic function, c fixed and s the weights of the rows where a data set has some.
///
/// The intercept, where asked for, is a column of ones: penalised as every weight is and one of them to
/// solvers (intercepts() is 0). An unpenalised one, fitted exactly after each update, would depend on λ.
class CleaningProblem final : public BilevelProblem {
 public:
  /// Throws InputError unless c > 0.
  CleaningProblem(Split split, SharedLoss loss, bool intercept, double c);

  const Split& split() const { return split_; }
  const Loss& loss() const { return loss_; }

  Index weights() const override {
    return (split_.train.features() + (intercept_ ? 1 : 0)) * loss_.outputs();
  }
  Index hyperparameters() const override { return lambdas_; }
  double train_loss(const Vector& w, const Vector& lambda) const override;
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  double validation_loss(const Vector& w, const Vector& lambda) const override;
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override;
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override;
  /// Tolerances are relative to the gradient at w = 0 and λ = 0.
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override;
  /// N_T / (4 σ(1 − σ)). One row is 1/N_T of the loss, so its slope is small however wrong it is; and as
  /// σ(λ_i) nears 0 or 1, ∂h/∂λ_i = σ(1 − σ) ∂h/∂σ_i falls to 0 whether or not the row is on the right side.
  /// The second factor is no more than 1e6 (|λ| of some 15): there a row is in or out for good, and noise in
  /// the hypergradient would be all that the certificate sees.
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  /// "train" is the mean over all training rows, trusted or not.
  Losses losses(const Vector& w, const Vector& lambda) const override;
  /// Each has the λ of all rows, of which those of its own rows count.
  Batches batches(Index rows) const override;

 private:
  /// σ(λ_i) s_i of each training row.
  void trust(const Vector& lambda, Vector& values) const;
  DataTerm term(const Dataset& data, const Vector& row_weights) const;
  double gradient_flops() const;

  Split split_;
  SharedLoss shared_loss_;
  const Loss& loss_ = shared_loss_;
  bool intercept_;
  double c_;
  Index lambdas_;                  // training rows of the whole problem
  Index first_ = 0;                // of them the first that is one of a batch
  double gradient_at_zero_ = 0.0;  // its norm: the measure of inner tolerances
};

}  // namespace yosida
