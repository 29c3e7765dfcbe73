#pragma once

#include <memory>
#include <mutex>

#include "problem/forwarding_problem.hpp"
#include "problem/left_out.hpp"
#include "problem/rotated_problem.hpp"

namespace yosida {

/// A LinearProblem all of whose rows train, and whose λ is judged by each of them in turn. In the place of
/// L_V stands
///   leave-one-out:  F = 1/N Σ s_i ℓ(m̃_i, y_i), see LeftOut
///   generalised cross-validation, of least squares:  F = 1/N Σ s_i ½r_i² / (1 − Σa_i/N)²
/// Both depend on λ itself, and mean something at w*(λ) alone. A λ of leave-one-out is that of a mean over
/// N − 1 rows, as with N folds: the weights are those of λ + log((N − 1)/N) on all of them.
class LeaveOneOutProblem final : public ForwardingProblem {
 public:
  enum class Kind { leave_one_out, generalised };

  /// The problem's validation rows are not used. With one λ in the basis of its rows where that is cheaper.
  /// Throws InputError where the loss or the size does not allow it.
  static std::shared_ptr<const LeaveOneOutProblem> of(std::shared_ptr<const LinearProblem> direct, Kind kind);
  /// Throws InputError, naming the criterion and the rule, where it is not defined or takes too much memory.
  static void require_fits(const Loss& loss, Index rows, Index features, Kind kind);

  /// What is known of the rows at a w and λ, from one factorisation. The last and the best are kept.
  std::shared_ptr<const LeftOutRows> left_out_at(const Vector& w, const Vector& lambda) const;

  double train_loss(const Vector& w, const Vector& lambda) const override;
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override;
  double validation_loss(const Vector& w, const Vector& lambda) const override;
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override;
  /// By differences of the gradient, as that of any problem.
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override;
  void validation_curvature(const Vector& w, const Vector& lambda, const Matrix& phi1,
                            Eigen::MatrixXd& out) const override;
  /// Throws RunEnded where options.stop says so while rows are left out.
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override;
  LinearReport hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                  const LinearOptions& options, Matrix& x) const override;
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  void closed_forms(std::span<const double> lambdas, std::span<CurvePoint> points) const override;
  Vector expand(const Vector& w) const override;
  Losses losses(const Vector& w, const Vector& lambda) const override;

 private:
  LeaveOneOutProblem(std::shared_ptr<const LinearProblem> direct,
                     std::shared_ptr<const RotatedProblem> rotated, Kind kind);
  Vector own(const Vector& lambda) const { return lambda.array() + shift_; }
  /// The last evaluation where it was at this w and λ, else a new one. Throws RunEnded where it is told to
  /// stop.
  std::shared_ptr<const LeftOut> evaluated(const Vector& w, const Vector& lambda,
                                           const StopToken* stop = nullptr) const;
  /// One λ of least squares: the columns of the rows are orthogonal, so every λ is a product with them.
  void prepare_closed_form();
  /// What one evaluation takes beside a gradient.
  double evaluation_work() const;

  std::shared_ptr<const LinearProblem> direct_;
  std::shared_ptr<const RotatedProblem> rotated_;  // null where it is direct
  const LinearProblem& linear_;                    // in the coordinates of the weights
  Kind kind_;
  double shift_;
  Matrix x_;  // the training rows
  struct Orthogonal {
    Matrix u;              // of X = U diag(σ) Vᵀ
    Vector squares;        // σ²
    Vector z;              // Uᵀ(y − ȳ)
    Vector rest, outside;  // of y − ȳ and of 1 − 1/N what U does not span
  };
  std::unique_ptr<const Orthogonal> orthogonal_;
  template <typename Rows>
  struct Kept {
    Vector w, lambda;
    std::shared_ptr<const Rows> rows;
    bool is_of(const Vector& at_w, const Vector& at_lambda) const {
      return rows && w == at_w && lambda == at_lambda;
    }
  };
  mutable std::mutex mutex_;
  mutable Kept<LeftOut> last_;
  mutable Kept<LeftOutRows> best_;  // of the least F: reports ask for it at the end
};

}  // namespace yosida
