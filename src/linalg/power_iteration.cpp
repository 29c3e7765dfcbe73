#include "linalg/power_iteration.hpp"

#include <algorithm>

#include "linalg/safe_norm.hpp"

namespace yosida {

LargestSeen power_iteration(FunctionRef<void(const Vector& p, Vector& out)> apply, int products,
                            Vector& direction, Vector& scratch) {
  LargestSeen seen;
  scratch.resize(direction.size());
  for (int i = 0; i < products; ++i) {
    const double size = safe_norm(direction);
    if (!(size > 0.0)) break;
    direction /= size;
    apply(direction, scratch);
    seen.rayleigh = std::max(seen.rayleigh, direction.dot(scratch));
    seen.norm = std::max(seen.norm, safe_norm(scratch));
    direction.swap(scratch);
  }
  return seen;
}

}  // namespace yosida
