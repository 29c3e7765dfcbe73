#pragma once

#include <algorithm>
#include <cmath>

namespace yosida {

/// The power of 2 that brings numbers of up to this magnitude near 1, where they can be summed and squared
/// without overflow or underflow. Multiplying by it, and dividing again, rounds nothing. 1 for 0 and for what
/// is not finite.
inline double unit_scale(double largest) {
  // Its own inverse must not overflow either; numbers beyond 2^±1000 come near enough.
  constexpr int kMostBits = 1000;
  if (!(largest > 0.0) || !std::isfinite(largest)) return 1.0;
  return std::ldexp(1.0, -std::clamp(std::ilogb(largest), -kMostBits, kMostBits));
}

}  // namespace yosida
