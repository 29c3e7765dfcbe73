#pragma once

#include <memory>
#include <optional>

#include "linalg/gram_of_all.hpp"
#include "linalg/tridiagonal.hpp"
#include "problem/least_squares_form.hpp"
#include "problem/validation_square.hpp"

namespace yosida {

/// A least-squares LinearProblem by products of its columns or, where these are more than the rows, of its
/// rows: matrices that BLAS makes at the speed of the processor, where triangular factors take ten times as
/// long. The training Hessian is tridiagonal in its coordinates, so that each λ costs O(d²) operations at
/// most.
///
/// Products square the condition of the rows. So this form is made only where it is as good as another:
/// every direction either has a curvature of at least 1e-9 of the largest, or none but rounding; and h at
/// small penalties agrees with what one step of refinement on the rows themselves gives.
///
/// Coordinates: a, of the centred training rows, and t = b − b*(w), how far the intercept is from the exact
/// one.
class GramLeastSquares final : public LeastSquaresForm {
 public:
  /// Nothing where the products are not exact enough. For what CollapsedLeastSquares::collapses() alone.
  /// Throws RunEnded where it is told to stop. `all`: of the training and the validation rows together, where
  /// it serves these.
  static std::shared_ptr<const GramLeastSquares> of(std::shared_ptr<const LinearProblem> direct,
                                                    const StopToken& stop = {},
                                                    const GramOfAll* all = nullptr);

  /// How many operations of matrix products it takes to make, and of factoring a matrix.
  struct Cost {
    double products;
    double factor;
  };
  static Cost cost(const LinearProblem& direct);

  double train_loss(const Vector& w, const Vector& lambda) const override;
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  double validation_loss(const Vector& w, const Vector& lambda) const override;
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override;
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override;
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  void closed_forms(std::span<const double> lambdas, std::span<CurvePoint> points) const override;
  std::optional<Vector> least_curvatures() const override;
  void fit_intercept(Vector& w) const override;
  Vector expand(const Vector& w) const override;

 private:
  GramLeastSquares(std::shared_ptr<const LinearProblem> direct, const StopToken& stop, const GramOfAll* all);
  /// False where there are directions of which products tell too little.
  bool by_columns(const StopToken& stop, const GramOfAll* all);
  bool by_rows();
  /// Sets least_ and largest_ and tells whether curvatures (rising) are clearly there or clearly not.
  bool keeps_apart(const Vector& curvatures);
  void finish_traits();
  double error_at(double lambda) const;
  bool agrees_with_rows() const;

  Index rank() const override { return diagonal_.size(); }
  /// 2e^λ, and no less than what the form can tell from none.
  double curvature_of_penalty(double lambda) const;
  void multiply_hessian(Eigen::Ref<const Vector> a, double c, Eigen::Ref<Vector> out) const;
  /// From the coordinates to those of the validation products, and back for gradients.
  Eigen::MatrixXd outer(const Eigen::MatrixXd& a) const;
  Vector inner(const Vector& g) const;

  bool is_exact_ = false;
  double train_rows_ = 0.0, validation_rows_ = 0.0;
  Vector mean_;  // of the training rows
  double target_mean_ = 0.0;
  // The training Hessian without penalty and the gradient at 0, negative; ‖y‖² a row.
  Vector diagonal_, off_diagonal_;
  Vector right_;
  double target_square_ = 0.0;
  double least_ = 0.0, largest_ = 0.0;
  // By columns: the coordinates are those of the reflections. By rows: w = (X − x̄)ᵀ rows_.
  std::optional<Tridiagonal> rotation_;
  Matrix rows_;
  ValidationSquare validation_;  // of the validation rows less the training means
};

}  // namespace yosida
