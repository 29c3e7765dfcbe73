#pragma once

#include <memory>
#include <mutex>

#include "yosida/data/split.hpp"
#include "yosida/export.hpp"
#include "yosida/model/loss.hpp"
#include "yosida/model/penalty.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace YOSIDA_EXPORT yosida {

class DataTerm;

/// A linear model with ℓ₂ penalties:
///   L_T(w, λ) = 1/N_T Σ s_i ℓ(xᵀw + b, y) + Σ_j e^{λ_g(j)} w_j²,   L_V(w) = 1/N_V Σ s_i ℓ(xᵀw + b, y),
/// with s the weights of the rows, 1 where a data set has none. The penalty has no ½ and leaves the intercept
/// b alone. Each gradient reads the design once. A loss of K outputs has K weights per feature, at j·K + k,
/// and K intercepts.
class LinearProblem : public BilevelProblem {
 public:
  /// One λ for all weights.
  LinearProblem(Split split, SharedLoss loss, bool intercept);
  /// One λ for each group of the penalty.
  LinearProblem(Split split, SharedLoss loss, bool intercept, Penalty penalty);
  ~LinearProblem() override;

  const Split& split() const { return split_; }
  const Loss& loss() const { return loss_; }
  const Penalty& penalty() const { return penalty_; }

  Index weights() const override { return penalty_.weights() + intercepts(); }
  Index hyperparameters() const override { return penalty_.groups(); }
  Index intercepts() const override { return intercept_ ? loss_.outputs() : 0; }
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
  /// Views of the rows, in their order.
  Batches batches(Index rows) const override;
  /// A Hessian kept from earlier solves, where that pays.
  std::unique_ptr<SolveMemory> solve_memory() const override;
  std::optional<double> largest_curvature(SolveMemory& memory, Work& work) const override;
  /// With a memory, by preconditioned quasi-Newton steps. Newton's method elsewhere: by Cholesky in feature
  /// space or, with one λ for all, row space where that is smaller; by conjugate gradients where both are
  /// large or there are several outputs.
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  /// H is singular where intercepts or unpenalised columns of a softmax move together; b must have no part
  /// there (gradients have none).
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override;
  LinearReport hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                  const LinearOptions& options, Matrix& x) const override;
  /// κ of a group is wᵀH₀w / ‖w‖² over its weights, H₀ the Hessian of the data term; with many groups H₀ is
  /// taken for its diagonal, which costs one product whatever their number.
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  /// The least and the largest curvature of the data term at 0 along a weight of each λ, intercepts refitted;
  /// weights without any are left out.
  Bounds column_curvatures() const;
  std::optional<Vector> least_curvatures() const override { return column_curvatures().low; }
  /// The curvature of the data term at 0 along each weight, which inner and linear solves measure gradients
  /// in; null where all columns are of one scale.
  const Vector* units() const;
  void fit_intercept(Vector& w) const override;
  Losses losses(const Vector& w, const Vector& lambda) const override;

 private:
  struct RowSpace;
  struct Columns;
  struct AtZero;
  /// Checks what it was given.
  void prepare();
  void fill_in_traits();
  bool factors_cheaply() const;
  DataTerm train_term() const;
  DataTerm validation_term() const;
  /// 2e^λ of every weight, 0 where it is not penalised.
  Vector penalty_curvatures(const Vector& lambda) const;
  double gradient_flops() const;
  /// Two passes when it is first asked for: not every form of the problem needs it.
  const AtZero& at_zero() const;
  const Columns& columns() const;
  Columns measured_columns() const;
  Index features() const { return split_.train.features(); }
  const RowSpace& row_space() const;
  /// Inner solves go through the span of the training rows.
  bool solves_in_row_space() const;

  Split split_;
  SharedLoss shared_loss_;
  const Loss& loss_ = shared_loss_;
  bool intercept_;
  Penalty penalty_;
  mutable std::once_flag at_zero_once_;
  mutable std::unique_ptr<const AtZero> at_zero_;
  mutable std::once_flag row_space_once_;
  mutable std::unique_ptr<RowSpace> row_space_;
  mutable std::once_flag columns_once_;
  mutable std::unique_ptr<Columns> columns_;
};

/// Mean loss of w (intercepts last where `intercept`) over a data set, its rows by their weights. Throws
/// InputError where w has another size.
double mean_loss(const Dataset& data, const Loss& loss, bool intercept, const Vector& w);

/// xᵀw + b for every row of a data set; with several outputs one behind the other.
Vector margins(const Dataset& data, bool intercept, const Vector& w, Index outputs = 1);

/// Throws InputError, naming the part and what is wrong, unless the three parts have rows, as many targets,
/// the same features, finite numbers, targets the loss takes and row weights (where there are some) ≥ 0.
void check_split(const Split& split, const Loss& loss);

}  // namespace yosida
