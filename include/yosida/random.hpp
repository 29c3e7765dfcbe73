#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "yosida/export.hpp"
#include "yosida/linalg/types.hpp"

namespace YOSIDA_EXPORT yosida {

/// The one generator of the project: xoshiro256++ (Blackman and Vigna), its state filled by splitmix64 from
/// the seed. Normals and shuffles are our own, because the standard library's differ between implementations:
/// a seed means the same numbers everywhere. May be used by one thread at a time.
class Random {
 public:
  /// A seed stands for one sequence.
  explicit Random(std::uint64_t seed);

  std::uint64_t next();
  /// Uniform on [0, 1): the upper 53 bits of next().
  double uniform();
  /// Uniform on {0, …, bound − 1}, without bias (Lemire's multiplication with rejection).
  std::uint64_t below(std::uint64_t bound);
  /// Standard normal by Box and Muller: sqrt(−2 log(1 − u₁)) cos(2π u₂), the sine kept for the next call.
  double normal();
  /// Fisher and Yates, from the last place to the first.
  void shuffle(std::span<Index> values);

 private:
  std::array<std::uint64_t, 4> state_;
  double spare_normal_ = 0.0;
  bool has_spare_normal_ = false;
};

}  // namespace yosida
