#pragma once

#include <memory>

#include "problem/forwarding_problem.hpp"
#include "yosida/problem/linear_problem.hpp"

namespace yosida {

/// A LinearProblem with one λ in the basis of its (centred) training rows' singular vectors: the columns are
/// then orthogonal, and their sizes the singular values. No larger than its rank.
///
/// In a small problem they come from the rows themselves. Factorisations do not mind scales of columns, so
/// solves are exact down to penalties at which the features' own coordinates have lost every digit, and the
/// least curvature, which bounds λ from below, is known. Of a wide problem with few rows, such as text, they
/// come from the products of rows: vectors of weights, a number for each column and output, are then not
/// touched until the end.
///
/// For solvers that ask for nothing but solves and what follows from them: the intercepts are those of
/// centred rows, and the basis spans the training rows only.
class RotatedProblem final : public ForwardingProblem {
 public:
  /// Only where it rotates() or is_wide(). Null where products of rows lose digits that matter.
  static std::shared_ptr<const RotatedProblem> of(const std::shared_ptr<const LinearProblem>& direct);
  /// From the rows themselves, however large they are; for problems with one λ on all weights.
  static std::shared_ptr<const RotatedProblem> of_rows(const std::shared_ptr<const LinearProblem>& direct);
  /// The same problem in the coordinates of the basis.
  const LinearProblem& linear() const { return *rotated_; }
  /// One λ on all weights, a small design that factors cheaply, and numbers whose singular values are as far
  /// from overflow as LinearProblem wants its features.
  static bool rotates(const LinearProblem& direct);
  /// One λ on all weights, and fewer rows than columns, few enough for the eigenvectors of their products.
  static bool is_wide(const LinearProblem& direct);

  /// Operations that it takes to make: from rows, and from products of rows.
  static double factoring_flops(const LinearProblem& direct);
  static double products_flops(const LinearProblem& direct);

  Vector expand(const Vector& w) const override;
  Losses losses(const Vector& w, const Vector& lambda) const override {
    return direct_->losses(expand(w), lambda);
  }

 private:
  struct Parts;
  RotatedProblem(std::shared_ptr<const LinearProblem> direct, Parts parts);

  std::shared_ptr<const LinearProblem> direct_;
  std::unique_ptr<const LinearProblem> rotated_;
  Matrix basis_;  // d × rank, orthonormal columns; empty where they are those of centred rowsᵀ rows_
  Matrix rows_;   // n × rank
  Vector mean_;   // of the training rows; 0 where there is no intercept
};

}  // namespace yosida
