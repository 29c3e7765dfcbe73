#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "yosida/linalg/types.hpp"

namespace yosida::test {

/// ‖a − b‖ / ‖b‖ (absolute where b = 0). NaN where either holds one, so that EXPECT_LE fails on it.
template <typename A, typename B>
double relative_error(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  const double scale = b.norm();
  return (a - b).norm() / (scale > 0.0 ? scale : 1.0);
}

inline double relative_error(double a, double b) { return std::abs(a - b) / (b != 0.0 ? std::abs(b) : 1.0); }

}  // namespace yosida::test
