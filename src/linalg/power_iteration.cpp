#include "linalg/power_iteration.hpp"

#include <algorithm>

namespace yosida {
namespace {

/// Squares of numbers beyond these overflow or vanish.
constexpr double kLeast = 1e-150, kMost = 1e150;

double safe_norm(const Vector& v) {
  const double norm = v.norm();
  return norm > kLeast && norm < kMost ? norm : v.stableNorm();
}

}  // namespace

LargestSeen power_iteration(FunctionRef<void(const Vector& p, Vector& out)> apply, int products,
                            Vector& direction, Vector& scratch) {
  LargestSeen seen;
  scratch.resize(direction.size());
  for (int i = 0; i < products; ++i) {
    const double size = safe_norm(direction);
    if (!(size > 0.0)) break;
    if (size > kLeast && size < kMost) {
      direction.normalize();
    } else {
      direction.stableNormalize();
    }
    apply(direction, scratch);
    seen.rayleigh = std::max(seen.rayleigh, direction.dot(scratch));
    seen.norm = std::max(seen.norm, safe_norm(scratch));
    direction.swap(scratch);
  }
  return seen;
}

}  // namespace yosida
