#pragma once

#include <vector>

#include "problem/data_term.hpp"

namespace yosida {

/// (diag(c) + ∇²f) on a set of weights, for a data term f of one output with few rows and c > 0 at all
/// weights but the intercept. With A the columns of the set and h the rows' curvatures, ∇²f = Aᵀ diag(h) A
/// has no more than its rows' rank: what is factored is the small matrix I + √h A diag(c)⁻¹ Aᵀ √h (Woodbury).
/// Its cost is linear in the size of the set, where that of a Cholesky factor of the whole is cubic.
class RowSpaceSystem {
 public:
  /// Whether this is the cheaper way for sets of this size.
  static bool suits(const DataTerm& data, const Vector& c, std::size_t set);

  /// A view of `data` and `c`. `state` is that of DataTerm::state_at.
  RowSpaceSystem(const DataTerm& data, const Vector& state, const Vector& c);

  /// Chooses the set: rising, the intercept, where there is one, last.
  void factor(const std::vector<Index>& set);
  /// The system's x for b on the set, both as long as all weights; 0 elsewhere. Refined until rounding lets
  /// the residual fall no more. Returns the norm of the residual.
  double solve(const Vector& b, Vector& x);

  /// √h
  const Vector& row_scales() const { return g_; }
  /// u with (I + √h A diag(c)⁻¹ Aᵀ √h) u + β √h = b and √hᵀu = sum, where there is an intercept (else β = 0).
  Vector solve_rows(Vector b, double sum, double& beta) const;
  /// Floating-point operations so far.
  double flops() const { return flops_; }

 private:
  void add_solution(const Vector& b, Vector& x);
  Vector residual(const Vector& b, const Vector& x);

  const DataTerm& data_;
  const Vector& c_;
  Vector g_;  // √h
  Index penalisable_;
  std::vector<Index> set_;  // without the intercept
  Matrix factor_;
  Vector border_;  // K⁻¹ √h
  Vector full_, rows_;
  double flops_ = 0.0;
};

}  // namespace yosida
