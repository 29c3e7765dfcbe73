#pragma once

#include <memory>

#include "problem/forwarding_problem.hpp"

namespace yosida {

/// Another problem whose several λ are drawn to their mean λ̄: L_V + c/2 Σ(λ_j − λ̄)². As many λ as features
/// fit the rows that judge them; this term is what a difference between two of them must be worth.
class ShrunkenProblem final : public ForwardingProblem {
 public:
  ShrunkenProblem(std::shared_ptr<const BilevelProblem> problem, double c)
      : ForwardingProblem(*problem), shared_(std::move(problem)), c_(c) {
    traits_.validation_depends_on_lambda = true;
  }

  double validation_loss(const Vector& w, const Vector& lambda) const override {
    return problem_.validation_loss(w, lambda) + term(lambda);
  }
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override {
    return problem_.validation_gradient(w, lambda, g) + term(lambda);
  }
  void validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override {
    problem_.validation_gradient_lambda(w, lambda, out);
    out.array() += c_ * (lambda.array() - lambda.mean());
  }
  void validation_curvature(const Vector& w, const Vector& lambda, const Matrix& phi1,
                            Eigen::MatrixXd& out) const override {
    problem_.validation_curvature(w, lambda, phi1, out);
    out.diagonal().array() += c_;
    out.array() -= c_ / static_cast<double>(lambda.size());
  }
  /// Batches would know nothing of the term.
  Batches batches(Index) const override { return {}; }
  /// The curve of one λ, the others held, is not that of the problem alone.
  std::shared_ptr<const ExactCurve> exact_curve(const Vector&, Index, const StopToken*,
                                                double) const override {
    return nullptr;
  }
  Losses losses(const Vector& w, const Vector& lambda) const override { return problem_.losses(w, lambda); }

 private:
  double term(const Vector& lambda) const {
    return 0.5 * c_ * (lambda.array() - lambda.mean()).square().sum();
  }

  std::shared_ptr<const BilevelProblem> shared_;
  double c_;
};

}  // namespace yosida
