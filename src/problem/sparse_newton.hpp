#pragma once

#include <optional>
#include <vector>

#include "problem/data_term.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/model/sparse_penalty.hpp"
#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// min over a, the intercepts last, of  F(a) = f(a) + ½ Σ c_j a_j² + linearᵀa + norms(a)  for a data term f
/// and the norms of a sparse penalty; the intercepts are in none of the sums.
struct SparseInner {
  const DataTerm& data;
  const Vector& c;                 // one per weight, 0 at the intercepts
  const Vector& linear;            // likewise
  const SparsePenaltyAt& penalty;  // its norms; its squares are in c
  double tolerance;                // on the norm of the smallest subgradient, in units of the columns
  std::int64_t max_count;          // gradients and Hessian products
  double flops_per_gradient;       // of the problem the work is counted for
  FunctionRef<std::optional<Matrix>(const std::vector<Index>&)>
      hessian;            // ∇²f on a set where it is known for any a; asked where it is needed
  const Vector& units;    // of column_units()
  const StopToken* stop;  // as InnerOptions::stop
};

/// What components of a gradient are multiplied by before they are compared: 1/√curvature of each weight's
/// column, where columns are of different scales; ones where `curvatures` is null.
Vector column_units(const Vector* curvatures, Index weights);

/// What a loss of several outputs leaves free on the support of w, a common shift of a feature's weights: to
/// each such block of h, whose rows and columns `set` names, a multiple of 11ᵀ is added, which leaves solves
/// with right-hand sides that have no part there as they are. A feature is free where all its weights are in
/// the set and the penalty does not change with the shift; intercepts always are.
void hold_shifts(const DataTerm& data, const SparsePenaltyAt& penalty, const Vector& c, const Vector& w,
                 const std::vector<Index>& set, Matrix& h);
/// Minimisers may differ by such shifts. This chooses the one whose features have a median of 0 over the
/// outputs where an ℓ₁ term leaves them free, and a mean of 0 where there is no penalty at all.
void centre_shifts(const DataTerm& data, const SparsePenaltyAt& penalty, const Vector& c, Vector& w);

/// Newton's method on a working set, from the a given: the weights that are not 0 and the worst violators of
/// the optimality conditions. The quadratic model on them is minimised by coordinate descent, which finds the
/// support, and by Cholesky on the support with its signs held, which makes it exact however correlated the
/// columns are; steps end where a weight reaches 0. From far away the norms come down in stages.
/// Supports too large to factor: proximal gradient steps find them, conjugate gradients solve on them. Of a
/// quadratic f with few rows, without groups and with c > 0, they are found in the space of the rows
/// (RowSpaceSystem).
InnerReport sparse_newton(const SparseInner& problem, Vector& a);

}  // namespace yosida
