#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/model/sparse_penalty.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace YOSIDA_EXPORT yosida {

class LassoCurves;
class SharedRows;

/// A linear model of any loss with a penalty that sets weights to 0:
///   L_T(w, λ) = 1/N_T Σ s_i ℓ(xᵀw + b, y) + SparsePenalty(w, λ),   L_V as in LinearProblem.
/// The intercepts b are free.
///
/// L_T has kinks at 0. Derivatives are those on the generalised support of w, its signs held: weights at 0
/// stay there under a small change of λ, so −Cᵀ H⁻¹ ∇L_V is the hypergradient wherever the support does not
/// change. Where it does, h has a kink: this is its derivative on one side, and one_sided_slopes has both.
class SparseProblem : public BilevelProblem {
 public:
  /// Throws InputError for what LinearProblem refuses, for a penalty of another number of weights, and for a
  /// softmax of two classes, whose weights an ℓ₁ term leaves free to move together. `shared`: what the
  /// problem of a fold has in common with others; the library's own.
  SparseProblem(Split split, SharedLoss loss, bool intercept, SparsePenalty penalty,
                std::shared_ptr<SharedRows> shared = nullptr);
  ~SparseProblem() override;

  const Split& split() const { return linear_.split(); }
  const Loss& loss() const { return linear_.loss(); }
  const SparsePenalty& penalty() const { return penalty_; }
  /// ‖∇ data term at w = 0‖_∞: from e^λ₁ = this on, an ℓ₁ penalty on all weights leaves them at 0.
  double largest_slope() const { return largest_slope_; }
  /// How much L_T(w, λ) is above its minimum at most, from a feasible point of its dual; for the losses of
  /// this library. First order in the error of w: it over-states that of a good w. The intercepts must be
  /// those of fit_intercept.
  double duality_gap(const Vector& w, const Vector& lambda) const;

  Index weights() const override { return linear_.weights(); }
  Index hyperparameters() const override { return penalty_.hyperparameters(); }
  Index intercepts() const override { return linear_.intercepts(); }
  double train_loss(const Vector& w, const Vector& lambda) const override;
  /// The subgradient of the smallest norm: the derivative where there is one, and 0 where w_j = 0 is as good
  /// as any. It is 0 at w*(λ), and there alone.
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  /// On the support and the intercepts the Hessian, elsewhere the identity.
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  /// The terms of the penalty, those of each λ.
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override;
  /// The data term and the squares.
  void smooth_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void smooth_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                              Vector& out) const override;
  /// The proximal step of the norms in L_T.
  void proximal_step(double step, const Vector& lambda, Vector& w) const override;
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
  /// For the λ of a norm max(1, κ / its term in L_T), κ the curvature of the data term along its weights:
  /// h becomes flat where the penalty is small beside it, and the term is the curvature along w of the
  /// quadratic that bounds the norm. Towards large λ h has its slope up to the kink at which w becomes 0;
  /// from there on it is a constant, which no scale tells from a minimum: bounds end before it. For the λ of
  /// squares as in LinearProblem. With more than two λ the data term's Hessian is taken for its diagonal.
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  bool one_sided_slopes(const Vector& w, const Vector& lambda, const Matrix& directions, double reach,
                        Vector& slopes) const override;
  /// For lasso and elastic net of least squares, along λ₁ at any λ₂. It comes from the exact path of the
  /// weights.
  std::shared_ptr<const ExactCurve> exact_curve(const Vector& lambda, Index j, const StopToken* stop,
                                                double least = ExactCurve::kAll) const override;
  void fit_intercept(Vector& w) const override { linear_.fit_intercept(w); }
  Losses losses(const Vector& w, const Vector& lambda) const override { return linear_.losses(w, lambda); }

 private:
  /// e^λ of norms from e^−14 of what leaves w = 0 to just before that; of squares by the data's scale, as
  /// default_bounds has it.
  Bounds bounds_of_lambda(double largest_curvature) const;
  double largest_curvature_at(const Vector& zero, Vector gradient) const;
  /// ‖x_j‖ ‖∂f/∂m‖ of each weight: no gradient of the data term along it is larger while the rows' slopes
  /// are no larger than at w = 0.
  Vector largest_slopes() const;
  /// Problems of few rows and features whose exact solves take a fraction of a millisecond.
  bool solves_at_once() const;
  Index penalised() const { return weights() - intercepts(); }
  /// The support of w, and the intercepts.
  std::vector<Index> support(const SparsePenaltyAt& at, const Vector& w) const;
  /// The curvatures of the squares, 0 at the intercepts.
  Vector squares(const SparsePenaltyAt& at) const;
  /// ∇²_ww L_T on a set, shifts held.
  Matrix hessian_on(const SparsePenaltyAt& at, const Vector& w, const std::vector<Index>& set,
                    Work& work) const;
  double gradient_flops() const;
  /// With few rows, squares and a wide support, Hessians are solved in the space of rows.
  bool solves_in_row_space(const SparsePenaltyAt& at, const std::vector<Index>& set) const;
  LinearReport row_space_solve_many(const Vector& w, const Vector& c, const std::vector<Index>& set,
                                    const Matrix& b, const LinearOptions& options, Matrix& x) const;
  /// ∇² of a quadratic data term on a set of weights, where its products are kept; else nothing.
  std::optional<Matrix> known_hessian(const std::vector<Index>& set) const;

  LinearProblem linear_;  // the data term; its penalty is never used
  SparsePenalty penalty_;
  double largest_slope_ = 0.0;
  Vector gradient_at_zero_;              // the measure of inner tolerances
  std::unique_ptr<LassoCurves> curves_;  // null where there is no such path
};

}  // namespace yosida
