#pragma once

#include <memory>

#include "problem/least_squares_form.hpp"

namespace yosida {

/// A least-squares LinearProblem in the basis that diagonalises its training Hessian. Training
/// losses, gradients and inner solves cost O(rank), validation ones a product with a small matrix.
///
/// The basis spans the (centred) training rows and the ones vector, which the paper's φ₀ needs:
/// what starts there stays there under every solver whose start is 0. With more rows than
/// features it spans everything.
class CollapsedLeastSquares final : public LeastSquaresForm {
 public:
  /// Throws InputError where it does not collapse, and RunEnded where it is told to stop.
  explicit CollapsedLeastSquares(std::shared_ptr<const LinearProblem> direct, const StopToken& stop = {});
  /// Its factors are of least squares, of the rows as they are (no row weights) and of one λ on every weight.
  static bool collapses(const LinearProblem& direct);

  /// Floating-point operations of collapsing such a problem, and of one direct iteration (a
  /// training and a validation gradient) against a collapsed one.
  struct Cost {
    double setup;
    double direct_iteration;
    double collapsed_iteration;
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
  /// They come from the smallest singular value that is more than rounding.
  std::optional<Vector> least_curvatures() const override;
  void fit_intercept(Vector& w) const override;
  Vector expand(const Vector& w) const override;

 private:
  double closed_form_work() const;
  Index rank() const override { return singular_values_.size(); }
  /// t = b − b*(w): how far the intercept is from the exact one, b*(w) = ȳ − x̄ᵀw.
  double intercept_offset(const Vector& w) const;
  /// point = w with t in the intercept's place.
  void set_offset(const Vector& w, double t, Vector& point) const;
  void factor_many_rows(const Dataset& train, const Vector& mean, const StopToken& stop);
  void factor_few_rows(const Dataset& train, const Vector& mean, const StopToken& stop);
  void rotate_validation_rows(const Dataset& validation, const Vector& mean, const StopToken& stop);

  Matrix basis_;            // d × rank, orthonormal columns
  Vector singular_values_;  // of the centred training design
  Vector z_;                // the centred targets in the left singular basis
  double rest_ = 0.0;       // what of ‖y‖² no weights explain
  Vector train_mean_;       // x̄ in the basis
  double mean_norm_ = 0.0;  // ‖x̄‖
  double target_mean_ = 0.0;
  double train_rows_ = 0.0;
  // Validation rows as an equal least-squares data set of few rows: ‖V (a, t) − z_V‖² + rest_V.
  std::shared_ptr<const Matrix> validation_matrix_;
  Design validation_;  // the same numbers
  Vector validation_z_;
  double validation_rest_ = 0.0;
  double validation_rows_ = 0.0;
};

}  // namespace yosida
