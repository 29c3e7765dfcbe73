#pragma once

#include "problem/checked_problem.hpp"
#include "yosida/linalg/function_ref.hpp"

namespace yosida {

/// The work counter around a problem: forwards every call, counts what touches the data, and sees to it that
/// a run ends: a call that would exceed the limit of work, or that follows or ends with a request to stop,
/// throws RunEnded. For one run in one thread; the problem itself may be shared.
class CountedProblem final : public CheckedProblem {
 public:
  /// `limit`: the largest paper_count allowed.
  explicit CountedProblem(const BilevelProblem& problem,
                          std::int64_t limit = std::numeric_limits<std::int64_t>::max(), StopToken stop = {});

  const Work& work() const { return work_; }
  /// The token that every call asks, and that inner and linear solves are given to ask.
  void stop_by(StopToken stop) { stop_ = std::move(stop); }
  /// L_V, uncounted. It is kept from the last call that has found it, if that was for the same w and λ.
  double watched_validation(const Vector& w, const Vector& lambda) const;

  double train_loss(const Vector& w, const Vector& lambda) const override;
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  double validation_loss(const Vector& w, const Vector& lambda) const override;
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  /// Either counts as a loss evaluation.
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override;
  void validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override;
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override;
  /// A Hessian product for each column.
  void validation_curvature(const Vector& w, const Vector& lambda, const Matrix& phi1,
                            Eigen::MatrixXd& out) const override;
  void smooth_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void smooth_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                              Vector& out) const override;
  /// What is computed on a batch counts by its share of the rows. Not to be used after this problem.
  Batches batches(Index rows) const override;
  void closed_forms(std::span<const double> lambdas, std::span<CurvePoint> points) const override;
  bool one_sided_slopes(const Vector& w, const Vector& lambda, const Matrix& directions, double reach,
                        Vector& slopes) const override;
  std::shared_ptr<const ExactCurve> exact_curve(const Vector& lambda, Index j, const StopToken* stop,
                                                double least = ExactCurve::kAll) const override;
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override;
  LinearReport hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                  const LinearOptions& options, Matrix& x) const override;
  std::optional<double> largest_curvature(SolveMemory& memory, Work& work) const override;
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  void fit_intercept(Vector& w) const override;

 private:
  class CountedBatch;
  /// A linear solve held to what is left of the limit, its work counted.
  LinearReport within_limit(const LinearOptions& options,
                            FunctionRef<LinearReport(const LinearOptions&)> solve) const;
  /// Counts one more of `kind`, or throws where the limit does not allow it.
  void charge(std::int64_t Work::*kind) const;
  /// The same for a share of one: it is counted as shares add up to one.
  void charge_share(std::int64_t Work::*kind, double& sum, double share) const;
  /// Throws where the run is to stop.
  void require_going_on() const;

  std::int64_t limit_;
  StopToken stop_;
  mutable Work work_;
  /// The last L_V that was found, and of what.
  mutable Vector validation_w_, validation_lambda_;
  mutable double validation_ = 0.0;
  double kept_validation(const Vector& w, const Vector& lambda, double value) const;
  /// The last curve, which is paid for.
  mutable std::shared_ptr<const ExactCurve> curve_;
  mutable Vector curve_lambda_;
  mutable Index curve_along_ = -1;
  mutable double curve_least_ = 0.0;
  /// What was computed on batches and does not add up to a whole gradient yet.
  mutable double train_share_ = 0.0, validation_share_ = 0.0, hessian_share_ = 0.0;
  mutable double setup_paid_ = 0.0;  // of what inner solves compute once and keep
};

}  // namespace yosida
