#pragma once

#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// Forwards every call to another problem: what wraps a problem overrides only what it changes, and
/// a function added to BilevelProblem is forwarded in one place. The problem must outlive it. Traits are
/// those of the problem when it was wrapped.
class ForwardingProblem : public BilevelProblem {
 public:
  explicit ForwardingProblem(const BilevelProblem& problem) : problem_(problem) {
    traits_ = problem.traits();
  }

  Index weights() const override { return problem_.weights(); }
  Index hyperparameters() const override { return problem_.hyperparameters(); }
  Index intercepts() const override { return problem_.intercepts(); }
  double train_loss(const Vector& w, const Vector& lambda) const override {
    return problem_.train_loss(w, lambda);
  }
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    problem_.train_gradient(w, lambda, g);
  }
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override {
    problem_.hessian_product(w, lambda, p, out);
  }
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override {
    problem_.cross_product(w, lambda, q, out);
  }
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override {
    problem_.cross_product_transposed(w, lambda, p, out);
  }
  double validation_loss(const Vector& w, const Vector& lambda) const override {
    return problem_.validation_loss(w, lambda);
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    return problem_.validation_gradient(w, lambda, g);
  }
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override {
    problem_.train_gradient_lambda(w, lambda, out);
  }
  void validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override {
    problem_.validation_gradient_lambda(w, lambda, out);
  }
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override {
    problem_.validation_hessian_product(w, lambda, p, out);
  }
  void validation_curvature(const Vector& w, const Vector& lambda, const Matrix& phi1,
                            Eigen::MatrixXd& out) const override {
    problem_.validation_curvature(w, lambda, phi1, out);
  }
  void smooth_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    problem_.smooth_gradient(w, lambda, g);
  }
  void smooth_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                              Vector& out) const override {
    problem_.smooth_hessian_product(w, lambda, p, out);
  }
  void proximal_step(double step, const Vector& lambda, Vector& w) const override {
    problem_.proximal_step(step, lambda, w);
  }
  Batches batches(Index rows) const override { return problem_.batches(rows); }
  std::unique_ptr<SolveMemory> solve_memory() const override { return problem_.solve_memory(); }
  std::optional<double> largest_curvature(SolveMemory& memory, Work& work) const override {
    return problem_.largest_curvature(memory, work);
  }
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override {
    return problem_.inner_solve(lambda, options, w);
  }
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override {
    return problem_.hessian_solve(w, lambda, b, options, x);
  }
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override {
    problem_.certificate_scale(w, lambda, out);
  }
  bool one_sided_slopes(const Vector& w, const Vector& lambda, const Matrix& directions, double reach,
                        Vector& slopes) const override {
    return problem_.one_sided_slopes(w, lambda, directions, reach, slopes);
  }
  LinearReport hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                  const LinearOptions& options, Matrix& x) const override {
    return problem_.hessian_solve_many(w, lambda, b, options, x);
  }
  void closed_forms(std::span<const double> lambdas, std::span<CurvePoint> points) const override {
    problem_.closed_forms(lambdas, points);
  }
  std::shared_ptr<const ExactCurve> exact_curve(const Vector& lambda, Index j, const StopToken* stop,
                                                double least) const override {
    return problem_.exact_curve(lambda, j, stop, least);
  }
  std::optional<Vector> least_curvatures() const override { return problem_.least_curvatures(); }
  void fit_intercept(Vector& w) const override { problem_.fit_intercept(w); }
  Vector expand(const Vector& w) const override { return problem_.expand(w); }
  Losses losses(const Vector& w, const Vector& lambda) const override { return problem_.losses(w, lambda); }

 protected:
  const BilevelProblem& problem_;
};

}  // namespace yosida
