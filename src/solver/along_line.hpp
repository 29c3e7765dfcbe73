#pragma once

#include <algorithm>

#include "problem/forwarding_problem.hpp"
#include "problem/shared_curve.hpp"

namespace yosida {

/// A problem of several hyperparameters seen along a line: λ = origin + t direction, with t the one
/// hyperparameter. With direction 1 and origin 0 it is the problem of one λ shared by all.
class AlongLine final : public ForwardingProblem {
 public:
  AlongLine(const BilevelProblem& problem, Vector origin, Vector direction)
      : ForwardingProblem(problem), origin_(std::move(origin)), direction_(std::move(direction)) {
    traits_.has_closed_form = false;
    traits_.certificate_work = {};
    if (traits_.bounds) traits_.bounds = along(*traits_.bounds);
  }

  Vector at(double t) const { return origin_ + t * direction_; }

  Index hyperparameters() const override { return 1; }
  double train_loss(const Vector& w, const Vector& t) const override {
    return problem_.train_loss(w, at(t[0]));
  }
  void train_gradient(const Vector& w, const Vector& t, Vector& g) const override {
    problem_.train_gradient(w, unpenalised(t) ? t_of_all(t) : at(t[0]), g);
  }
  void hessian_product(const Vector& w, const Vector& t, const Vector& p, Vector& out) const override {
    problem_.hessian_product(w, unpenalised(t) ? t_of_all(t) : at(t[0]), p, out);
  }
  void cross_product(const Vector& w, const Vector& t, const Vector& q, Vector& out) const override {
    problem_.cross_product(w, at(t[0]), q[0] * direction_, out);
  }
  void cross_product_transposed(const Vector& w, const Vector& t, const Vector& p,
                                Vector& out) const override {
    Vector all(direction_.size());
    problem_.cross_product_transposed(w, at(t[0]), p, all);
    out[0] = direction_.dot(all);
  }
  void train_gradient_lambda(const Vector& w, const Vector& t, Vector& out) const override {
    Vector all(direction_.size());
    problem_.train_gradient_lambda(w, at(t[0]), all);
    out[0] = direction_.dot(all);
  }
  void smooth_gradient(const Vector& w, const Vector& t, Vector& g) const override {
    problem_.smooth_gradient(w, at(t[0]), g);
  }
  void smooth_hessian_product(const Vector& w, const Vector& t, const Vector& p, Vector& out) const override {
    problem_.smooth_hessian_product(w, at(t[0]), p, out);
  }
  void proximal_step(double step, const Vector& t, Vector& w) const override {
    problem_.proximal_step(step, at(t[0]), w);
  }
  Batches batches(Index) const override { return {}; }
  double validation_loss(const Vector& w, const Vector& t) const override {
    return problem_.validation_loss(w, at(t[0]));
  }
  double validation_gradient(const Vector& w, const Vector& t, Vector& g) const override {
    return problem_.validation_gradient(w, at(t[0]), g);
  }
  void validation_gradient_lambda(const Vector& w, const Vector& t, Vector& out) const override {
    Vector all(direction_.size());
    problem_.validation_gradient_lambda(w, at(t[0]), all);
    out[0] = direction_.dot(all);
  }
  void validation_hessian_product(const Vector& w, const Vector& t, const Vector& p,
                                  Vector& out) const override {
    problem_.validation_hessian_product(w, at(t[0]), p, out);
  }
  void validation_curvature(const Vector& w, const Vector& t, const Matrix& phi1,
                            Eigen::MatrixXd& out) const override {
    // This uses the products above: what the forwarding class would call knows of no line.
    BilevelProblem::validation_curvature(w, t, phi1, out);  // NOLINT(bugprone-parent-virtual-call)
  }
  Losses losses(const Vector& w, const Vector& t) const override { return problem_.losses(w, at(t[0])); }
  InnerReport inner_solve(const Vector& t, const InnerOptions& options, Vector& w) const override {
    return problem_.inner_solve(at(t[0]), options, w);
  }
  LinearReport hessian_solve(const Vector& w, const Vector& t, const Vector& b, const LinearOptions& options,
                             Vector& x) const override {
    return problem_.hessian_solve(w, at(t[0]), b, options, x);
  }
  LinearReport hessian_solve_many(const Vector& w, const Vector& t, const Matrix& b,
                                  const LinearOptions& options, Matrix& x) const override {
    return problem_.hessian_solve_many(w, at(t[0]), b, options, x);
  }
  /// The flat ends of a line are told by its bounds.
  void certificate_scale(const Vector&, const Vector&, Vector& out) const override { out.setOnes(); }
  bool one_sided_slopes(const Vector& w, const Vector& t, const Matrix& directions, double reach,
                        Vector& slopes) const override {
    return problem_.one_sided_slopes(w, at(t[0]), direction_ * directions, reach, slopes);
  }
  /// Along one of the λ, or along all of them together, it is that of the problem.
  std::shared_ptr<const ExactCurve> exact_curve(const Vector&, Index, const StopToken* stop,
                                                double least) const override {
    Index j = 0;
    if (direction_.size() > 1 && origin_.isZero(0.0) && (direction_.array() == 1.0).all())
      return problem_.exact_curve(origin_, kAllTogether, stop, least);
    direction_.maxCoeff(&j);
    if (origin_[j] != 0.0 || direction_ != Vector::Unit(direction_.size(), j)) return nullptr;
    return problem_.exact_curve(origin_, j, stop, least);
  }
  std::optional<Vector> least_curvatures() const override {
    const std::optional<Vector> all = problem_.least_curvatures();
    if (!all) return {};
    return Vector::Constant(1, all->minCoeff());
  }

 private:
  Bounds along(const Bounds& all) const {
    Bounds own{Vector::Constant(1, -std::numeric_limits<double>::infinity()),
               Vector::Constant(1, std::numeric_limits<double>::infinity())};
    for (Index j = 0; j < direction_.size(); ++j) {
      if (direction_[j] == 0.0) continue;
      own.low[0] = std::max(own.low[0], (all.low[j] - origin_[j]) / direction_[j]);
      own.high[0] = std::min(own.high[0], (all.high[j] - origin_[j]) / direction_[j]);
    }
    return own;
  }
  /// e^−∞ = 0 in every component, whatever the direction.
  static bool unpenalised(const Vector& t) { return t[0] == -std::numeric_limits<double>::infinity(); }
  Vector t_of_all(const Vector& t) const { return Vector::Constant(direction_.size(), t[0]); }

  Vector origin_;
  Vector direction_;
};

}  // namespace yosida
