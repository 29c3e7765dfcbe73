#pragma once

#include <memory>
#include <span>
#include <vector>

#include "yosida/export.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace YOSIDA_EXPORT yosida {

/// K-fold cross-validation as one bi-level problem: K problems, each with weights of its own, under one λ.
///   L_T(w, λ) = Σ_k L_T^k(w_k, λ),   L_V(w) = Σ_k share_k L_V^k(w_k)
/// w holds the weights of all folds, one fold after the other, then all their intercepts.
///
/// Work: a gradient of this problem is a gradient of every fold and counts 1, so a count of one fold is worth
/// 1/K here. A solve reports the mean over the folds, gradients and Hessian products rounded up in all.
class KFoldProblem final : public BilevelProblem {
 public:
  /// `validation_share`: of each fold's L_V, the share of rows that are its validation rows. Throws
  /// InputError unless there are folds with as many shares ≥ 0 of sum 1, all of as many hyperparameters. A
  /// fold may not be a KFoldProblem itself (repeated K-fold is K times as many folds). `operations`: about
  /// how many a call takes in all folds; where they are many, folds are called side by side, from several
  /// threads. With 0 one after the other, as problems need that may not be called so.
  KFoldProblem(std::vector<std::shared_ptr<const BilevelProblem>> folds, std::vector<double> validation_share,
               Index operations = 0);

  Index folds() const { return static_cast<Index>(folds_.size()); }
  /// The problem of one fold.
  const BilevelProblem& fold(Index k) const { return *at(k).problem; }
  /// The weights of one fold, in its own coordinates.
  Vector weights_of_fold(Index k, const Vector& w) const;

  Index weights() const override { return penalised_ + intercepts_; }
  Index hyperparameters() const override { return at(0).problem->hyperparameters(); }
  Index intercepts() const override { return intercepts_; }
  double train_loss(const Vector& w, const Vector& lambda) const override;
  void train_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void hessian_product(const Vector& w, const Vector& lambda, const Vector& p, Vector& out) const override;
  void cross_product(const Vector& w, const Vector& lambda, const Vector& q, Vector& out) const override;
  void cross_product_transposed(const Vector& w, const Vector& lambda, const Vector& p,
                                Vector& out) const override;
  double validation_loss(const Vector& w, const Vector& lambda) const override;
  double validation_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void validation_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                                  Vector& out) const override;
  void smooth_gradient(const Vector& w, const Vector& lambda, Vector& g) const override;
  void smooth_hessian_product(const Vector& w, const Vector& lambda, const Vector& p,
                              Vector& out) const override;
  void proximal_step(double step, const Vector& lambda, Vector& w) const override;
  void train_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override;
  void validation_gradient_lambda(const Vector& w, const Vector& lambda, Vector& out) const override;
  /// Holds a memory for each fold.
  std::unique_ptr<SolveMemory> solve_memory() const override;
  std::optional<double> largest_curvature(SolveMemory& memory, Work& work) const override;
  /// Each fold to the tolerances given.
  InnerReport inner_solve(const Vector& lambda, const InnerOptions& options, Vector& w) const override;
  LinearReport hessian_solve(const Vector& w, const Vector& lambda, const Vector& b,
                             const LinearOptions& options, Vector& x) const override;
  LinearReport hessian_solve_many(const Vector& w, const Vector& lambda, const Matrix& b,
                                  const LinearOptions& options, Matrix& x) const override;
  /// The largest of the folds: h′ is a sum, and is called small only where that would do for every fold.
  void certificate_scale(const Vector& w, const Vector& lambda, Vector& out) const override;
  /// Σ share × that of each fold: a kink of one is a kink of h.
  bool one_sided_slopes(const Vector& w, const Vector& lambda, const Matrix& directions, double reach,
                        Vector& slopes) const override;
  void closed_forms(std::span<const double> lambdas, std::span<CurvePoint> points) const override;
  /// The sum of those of the folds, where each has one.
  std::shared_ptr<const ExactCurve> exact_curve(const Vector& lambda, Index j, const StopToken* stop,
                                                double least = ExactCurve::kAll) const override;
  std::optional<Vector> least_curvatures() const override;
  void fit_intercept(Vector& w) const override;
  /// One weight per fold and feature, in the order of w. A model for use is a refit on all rows at the λ
  /// found.
  Vector expand(const Vector& w) const override;
  /// Train and validation averaged over the folds; the folds have no test rows in common.
  Losses losses(const Vector& w, const Vector& lambda) const override;

 private:
  struct Fold {
    std::shared_ptr<const BilevelProblem> problem;
    double share;
    Index first;            // of its weights in w
    Index penalised;        // how many they are, without intercepts
    Index first_intercept;  // of its intercepts in w
    Index intercepts;
  };
  void fill_in_traits();
  const Fold& at(Index k) const { return folds_[static_cast<std::size_t>(k)]; }
  std::size_t number_of(const Fold& fold) const { return static_cast<std::size_t>(&fold - folds_.data()); }
  /// Three vectors of a fold's size to work with, one of as many numbers as λ, and what it adds to a sum over
  /// the folds: this is taken in their order, whoever has called them.
  struct Scratch {
    Vector a, b, c;
    Vector of_lambda;
    double value = 0.0;
  };
  /// What a fold keeps, of a memory of solve_memory().
  SolveMemory* memory_of(const Fold& fold, SolveMemory* all) const;
  /// Calls `each` with every fold, side by side, and then `then` with what each has worked with, in their
  /// order. It allocates nothing once it has been called. With `first_leads` the first fold is done before
  /// the others begin.
  void for_each_fold(
      FunctionRef<void(const Fold&, Scratch&)> each, bool first_leads = false,
      FunctionRef<void(const Scratch&)> then = [](const Scratch&) {}) const;
  LinearReport joined(std::span<const LinearReport> reports) const;
  double sum_of_values(FunctionRef<void(const Fold&, Scratch&)> each) const;
  /// out = the sum of what `each` makes of the weights of every fold, as many numbers as λ.
  void sum_of_lambdas(const Vector& w, const Vector& lambda, Vector& out,
                      FunctionRef<void(const Fold&, Scratch&)> each) const;
  /// out = what `each` makes of the weights of every fold.
  void by_fold(const Vector& w, const Vector& lambda, Vector& out,
               FunctionRef<void(const BilevelProblem&, const Vector&, Vector&)> each) const;
  /// out = what `each` leaves in c of every fold, given its weights in a and its part of p in b.
  void along(const Vector& w, const Vector& lambda, const Vector& p, Vector& out,
             FunctionRef<void(const Fold&, Scratch&)> each) const;

  std::vector<Fold> folds_;
  Index operations_;
  Index penalised_ = 0;
  Index intercepts_ = 0;
};

}  // namespace yosida
