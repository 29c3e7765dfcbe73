#pragma once

#include <Eigen/Dense>
#include <cmath>

#include "support/dense.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida::test {

/// A problem of one's own with losses and gradients alone, no data, and every derivative known by hand.
/// Weight j belongs to λ_{j mod m}:
///   L_T = ½ Σ a_j (w_j − t_j)² + 0.1 Σ w_j⁴ + 0.1 (Σ w_j)² + Σ e^λ w_j²
///   L_V = 1 + ½ ‖w − s‖² + pull Σ_g [sin(λ_g) cᵀw + (λ_g + 1)²]
struct OwnProblem : BilevelProblem {
  Vector a, t, s, c;
  Index lambdas;
  double pull;

  OwnProblem(Index size, Index lambdas_, double pull_) : lambdas(lambdas_), pull(pull_) {
    a = Vector::LinSpaced(size, 0.5, 2.0);
    t = 2.0 * Vector::LinSpaced(size, 1.0, 7.0).array().sin();
    s = 0.6 * t;
    c = Vector::LinSpaced(size, 0.2, -0.1);
    traits_.has_penalties = true;
    traits_.validation_depends_on_lambda = pull != 0.0;
  }
  Index weights() const override { return a.size(); }
  Index hyperparameters() const override { return lambdas; }
  double train_loss(const Vector& w, const Vector& lambda) const override {
    return 0.5 * a.dot((w - t).cwiseAbs2()) + 0.1 * w.array().pow(4).sum() + 0.1 * w.sum() * w.sum() +
           penalty(lambda).dot(w.cwiseAbs2());
  }
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    g = a.cwiseProduct(w - t).array() + 0.4 * w.array().cube() + 0.2 * w.sum() +
        2.0 * penalty(lambda).array() * w.array();
  }
  double validation_loss(const Vector& w, const Vector& lambda) const override {
    return 1.0 + 0.5 * (w - s).squaredNorm() +
           pull * (lambda.array().sin().sum() * c.dot(w) + (lambda.array() + 1.0).square().sum());
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    g = w - s + pull * lambda.array().sin().sum() * c;
    return validation_loss(w, lambda);
  }

  // The truth, by hand.

  Vector penalty(const Vector& lambda) const {
    Vector each(a.size());
    for (Index j = 0; j < a.size(); ++j) each[j] = std::exp(lambda[j % lambdas]);
    return each;
  }
  Eigen::MatrixXd hessian(const Vector& w, const Vector& lambda) const {
    Eigen::MatrixXd h = Eigen::MatrixXd::Constant(a.size(), a.size(), 0.2);
    h.diagonal().array() += a.array() + 1.2 * w.array().square() + 2.0 * penalty(lambda).array();
    return h;
  }
  Eigen::MatrixXd cross(const Vector& w, const Vector& lambda) const {
    Eigen::MatrixXd c_ = Eigen::MatrixXd::Zero(a.size(), lambdas);
    for (Index j = 0; j < a.size(); ++j) c_(j, j % lambdas) = 2.0 * std::exp(lambda[j % lambdas]) * w[j];
    return c_;
  }
  Vector train_direct(const Vector& w, const Vector& lambda) const {
    return 0.5 * cross(w, lambda).transpose() * w;
  }
  Vector validation_direct(const Vector& w, const Vector& lambda) const {
    return pull * (lambda.array().cos() * c.dot(w) + 2.0 * (lambda.array() + 1.0));
  }
  /// w*(λ) by plain Newton steps; L_T is convex.
  Vector trained(const Vector& lambda) const {
    Vector w = Vector::Zero(a.size()), g(a.size());
    for (int i = 0; i < 100; ++i) {
      train_gradient(w, lambda, g);
      if (g.norm() <= 1e-14) break;
      w -= test::symmetric_solution(hessian(w, lambda), g);
    }
    return w;
  }
  double h(const Vector& lambda) const { return validation_loss(trained(lambda), lambda); }
  Vector hypergradient(const Vector& lambda) const {
    const Vector w = trained(lambda);
    Vector g(a.size());
    validation_gradient(w, lambda, g);
    return validation_direct(w, lambda) -
           cross(w, lambda).transpose() * test::symmetric_solution(hessian(w, lambda), g);
  }
};

}  // namespace yosida::test
