#pragma once

#include <memory>
#include <mutex>

#include "yosida/export.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace YOSIDA_EXPORT yosida {

class LassoCurves;

/// A linear model with an ℓ₁ penalty, which sets weights to 0, and for the elastic net an ℓ₂ penalty as well:
///   L_T(w, λ) = 1/N_T Σ s_i ℓ(xᵀw + b, y) + e^λ₁ Σ |w_j| + e^λ₂ Σ w_j²,   L_V as in LinearProblem.
/// The lasso has λ₁ alone, the elastic net λ = (λ₁, λ₂). The intercept b is free. For losses of one output.
///
/// L_T has kinks at w_j = 0. Derivatives are those on the support of w, its signs held: weights at 0 stay
/// there under a small change of λ, so −Cᵀ H⁻¹ ∇L_V is the hypergradient wherever the support does not
/// change (where it does, h has a kink, and this is its derivative on one side).
class ElasticNetProblem final : public BilevelProblem {
 public:
  /// An ℓ₁ penalty alone, or an ℓ₂ one beside it.
  enum class Kind { lasso, elastic_net };
  /// Throws InputError for what LinearProblem refuses, and for a loss of several outputs.
  ElasticNetProblem(Split split, SharedLoss loss, bool intercept, Kind kind);
  ~ElasticNetProblem() override;

  const Split& split() const { return linear_.split(); }
  const Loss& loss() const { return linear_.loss(); }
  /// ‖∇ data term at w = 0‖_∞: from e^λ₁ = this on all weights are 0.
  double largest_slope() const { return largest_slope_; }

  Index weights() const override { return linear_.weights(); }
  Index hyperparameters() const override { return kind_ == Kind::lasso ? 1 : 2; }
  Index intercepts() const override { return linear_.intercepts(); }
  double train_loss(const Vector& w, const Vector& lambda) const override;
  /// The subgradient of the smallest norm: the derivative where w_j ≠ 0, and 0 where w_j = 0 is as good as
  /// any. It is 0 at w*(λ), and there alone.
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  /// On the support and the intercept the Hessian, elsewhere the identity.
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  /// e^λ₁ sign(w_j), 2e^λ₂ w_j: 0 where w_j is.
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  /// e^λ₁ ‖w‖₁, e^λ₂ ‖w‖²
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override;
  double validation_loss(const Vector& w, const Vector& lambda) const override {
    return linear_.validation_loss(w, lambda);
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    return linear_.validation_gradient(w, lambda, g);
  }
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override {
    linear_.validation_hessian_product(w, lambda, p, out);
  }
  /// Newton's method on a working set. ‖gradient‖ is that of train_gradient; a tolerance under the rounding
  /// of gradients is taken for that.
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override;
  LinearReport hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                  const LinearOptions& options, Matrix& x) const override;
  /// For λ₁ max(1, wᵀH₀w / (e^λ₁ ‖w‖₁)): h becomes flat where the penalty is small beside the data term's
  /// curvature, and e^λ₁ ‖w‖₁ is the curvature along w of the quadratic that bounds the ℓ₁ term. Towards
  /// large λ₁ h has its slope up to the kink at which w becomes 0; from there on it is a constant, which no
  /// scale tells from a minimum: the bounds of its traits end before it. For λ₂ as in LinearProblem.
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  /// Of least squares along λ₁, whatever λ₂ is: the exact path of the weights.
  std::shared_ptr<const ExactCurve> exact_curve(const Vector& lambda, Index j,
                                                const StopToken* stop) const override;
  void fit_intercept(Vector& w) const override { linear_.fit_intercept(w); }
  Losses losses(const Vector& w, const Vector& lambda) const override { return linear_.losses(w, lambda); }

 private:
  /// e^λ₁ from e^−14 of the smallest that leaves w = 0 to just before that one; e^λ₂ by the data's scale, as
  /// default_bounds has it.
  Bounds bounds_of_lambda(double largest_curvature) const;
  /// A lasso of few rows and features: its exact solves take a fraction of a millisecond.
  bool solves_at_once() const;
  double l1(const Vector& lambda) const;
  /// λ₂ as the λ of linear_; −∞ for the lasso.
  double l2(const Vector& lambda) const;
  Index penalised() const { return weights() - intercepts(); }
  /// The weights that are not 0, and the intercept.
  std::vector<Index> support(const Vector& w) const;
  double gradient_flops() const;
  /// With few rows, an ℓ₂ penalty and a wide support, Hessians are solved in the space of rows.
  bool solves_in_row_space(const Vector& lambda, const std::vector<Index>& set) const;
  LinearReport row_space_solve_many(const Vector& w, const Vector& lambda, const std::vector<Index>& set,
                                    const Matrix& b, const LinearOptions& options, Matrix& x) const;
  /// ∇² of a quadratic data term on all weights, where that is worth keeping, else null.
  const Matrix* kept_hessian() const;

  LinearProblem linear_;  // the data term and the ℓ₂ term
  Kind kind_;
  double largest_slope_ = 0.0;
  Vector gradient_at_zero_;  // the measure of inner tolerances
  mutable std::once_flag hessian_once_;
  mutable Matrix hessian_;
  std::unique_ptr<LassoCurves> curves_;  // null for other losses
};

}  // namespace yosida
