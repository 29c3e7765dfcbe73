#pragma once

#include "yosida/linalg/function_ref.hpp"
#include "yosida/linalg/types.hpp"

namespace yosida {

/// The largest curvatures that power iterations have met: pᵀHp and ‖Hp‖ of their unit vectors p. Both come
/// near the largest eigenvalue of a positive semi-definite H from below.
struct LargestSeen {
  double rayleigh = 0.0;
  double norm = 0.0;
};

/// Does so many power iterations, p ← Hp/‖Hp‖, or fewer where Hp is 0. They begin at the direction given and
/// leave it where they end, so that a later call goes on from there. `apply(p, out)` writes Hp to out.
LargestSeen power_iteration(FunctionRef<void(const Vector& p, Vector& out)> apply, int products,
                            Vector& direction, Vector& scratch);

}  // namespace yosida
