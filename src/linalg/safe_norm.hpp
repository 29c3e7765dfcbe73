#pragma once

#include <cmath>

#include "yosida/linalg/types.hpp"

namespace yosida {

/// ‖v‖, also where squares of its numbers overflow or vanish. (Eigen's stableNorm() copies into memory of 16
/// bytes' alignment and asserts that of EIGEN_MAX_ALIGN_BYTES.)
inline double safe_norm(const Vector& v) {
  const double norm = v.norm();
  if (norm > 1e-150 && norm < 1e150) return norm;
  const double largest = v.size() > 0 ? v.lpNorm<Eigen::Infinity>() : 0.0;
  return largest > 0.0 && std::isfinite(largest) ? largest * (v / largest).norm() : norm;
}

}  // namespace yosida
