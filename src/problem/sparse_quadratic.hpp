#pragma once

#include <vector>

#include "yosida/linalg/types.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// min over x of  qᵀ(x − x₀) + ½ (x − x₀)ᵀ H (x − x₀) + Σ t_j |x_j| + Σ_g s_g ‖x_g‖: a quadratic model around
/// x₀ with ℓ₁ terms, some of which may be 0, and norms of groups, if there are any.
struct SparseQuadratic {
  struct Group {
    std::vector<Index> members;
    double threshold;  // s
  };
  const Matrix& hessian;
  const Vector& q;
  const Vector& threshold;  // t
  const Vector& x0;
  const StopToken* stop = nullptr;
  const std::vector<Group>& groups;
};

struct SparseQuadraticReport {
  double subgradient_norm = 0.0;
  double flops = 0.0;
};

/// From the x given until the smallest subgradient is under the tolerance, or rounding lets it fall no more.
/// Sweeps of coordinate descent, of groups by proximal steps, find the support; Newton's steps on it, signs
/// held, end the rest of the way.
SparseQuadraticReport minimise(const SparseQuadratic& model, double tolerance, Vector& x);

}  // namespace yosida
