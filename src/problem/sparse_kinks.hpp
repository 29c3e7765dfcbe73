#pragma once

#include <vector>

#include "yosida/linalg/function_ref.hpp"
#include "yosida/model/sparse_penalty.hpp"

namespace yosida {

/// What is known of a sparse problem at w = w*(λ), near a kink of h: a λ at which a weight or a group is
/// about to enter the support or to leave it.
struct NearKink {
  const SparsePenalty& penalty;
  const SparsePenaltyAt& at;
  const Vector& lambda;
  const Vector& w;
  const std::vector<Index>& support;  // of w, and the intercepts
  const Vector& gradient;             // of all but the norms, at w
  const Vector& outer;                // ∇L_V
  /// ∇²_ww L_T on a set, where the weights given are the support.
  FunctionRef<Matrix(const Vector& w, const std::vector<Index>& set)> hessian;
  double reach;  // how far away in λ a kink is still near
};

/// h'(λ; δ) for each column δ of `directions`. What enters or leaves does so along a ray v, with a length
/// z ≥ 0: a weight along its sign, a group along its gradient. The derivative of w* is then the solution of
///   min ½ dᵀHd + dᵀCδ  over d = d_E + Σ z_k v_k, z ≥ 0,
/// E the strict support. Returns whether there is such a ray.
bool sparse_one_sided_slopes(const NearKink& near, const Matrix& directions, Vector& slopes);

}  // namespace yosida
