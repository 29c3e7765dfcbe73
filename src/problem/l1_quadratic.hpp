#pragma once

#include "yosida/linalg/types.hpp"
#include "yosida/stop.hpp"

namespace yosida {

/// min over x of  qᵀ(x − x₀) + ½ (x − x₀)ᵀ H (x − x₀) + Σ t_j |x_j|: a quadratic model around x₀ with ℓ₁
/// terms, some of which may be 0.
struct L1Quadratic {
  const Matrix& hessian;
  const Vector& q;
  const Vector& threshold;  // t
  const Vector& x0;
  const StopToken* stop = nullptr;
};

struct L1QuadraticReport {
  double subgradient_norm = 0.0;
  double flops = 0.0;
};

/// From the x given until the smallest subgradient is under the tolerance, or rounding lets it fall no more.
/// Sweeps of coordinate descent find the support; Newton's step on it, signs held, ends the rest of the way.
L1QuadraticReport minimise(const L1Quadratic& model, double tolerance, Vector& x);

}  // namespace yosida
