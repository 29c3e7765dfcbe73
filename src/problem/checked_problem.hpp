#pragma once

#include "problem/forwarding_problem.hpp"
#include "problem/returned_size.hpp"

namespace yosida {

/// A problem, perhaps a user's own, whose sizes are checked: it must have hyperparameters, and what its
/// functions leave in a vector must be as long as it was asked for. Else it throws InputError, where a solver
/// would read beyond the end.
class CheckedProblem : public ForwardingProblem {
 public:
  explicit CheckedProblem(const BilevelProblem& problem) : ForwardingProblem(problem) {
    require_some("weights()", problem.weights());
    require_some("hyperparameters()", problem.hyperparameters());
  }

  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    problem_.train_gradient(w, lambda, g);
    require_returned("train_gradient", g, w.size());
  }
  void smooth_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    problem_.smooth_gradient(w, lambda, g);
    require_returned("smooth_gradient (by default train_gradient)", g, w.size());
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    const double loss = problem_.validation_gradient(w, lambda, g);
    require_returned("validation_gradient", g, w.size());
    return loss;
  }
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override {
    problem_.train_gradient_lambda(w, lambda, out);
    require_returned("train_gradient_lambda", out, lambda.size());
  }
  void validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override {
    problem_.validation_gradient_lambda(w, lambda, out);
    require_returned("validation_gradient_lambda", out, lambda.size());
  }
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override {
    problem_.hessian_product(w, lambda, p, out);
    require_returned("hessian_product", out, w.size());
  }
  void smooth_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                              Vector& out) const override {
    problem_.smooth_hessian_product(w, lambda, p, out);
    require_returned("smooth_hessian_product (by default hessian_product)", out, w.size());
  }
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override {
    problem_.validation_hessian_product(w, lambda, p, out);
    require_returned("validation_hessian_product", out, w.size());
  }
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override {
    problem_.cross_product(w, lambda, q, out);
    require_returned("cross_product", out, w.size());
  }
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override {
    problem_.cross_product_transposed(w, lambda, p, out);
    require_returned("cross_product_transposed", out, lambda.size());
  }
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override {
    const InnerReport report = problem_.inner_solve(lambda, options, w);
    require_returned("inner_solve", w, weights());
    return report;
  }
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override {
    const LinearReport report = problem_.hessian_solve(w, lambda, b, options, x);
    require_returned("hessian_solve", x, b.size());
    return report;
  }
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override {
    problem_.certificate_scale(w, lambda, out);
    require_returned("certificate_scale", out, lambda.size());
  }

 private:
  static void require_some(const char* name, Index count) {
    if (count < 1) throw InputError(std::string(name) + " = " + std::to_string(count) + ": must be >= 1");
  }
};

}  // namespace yosida
