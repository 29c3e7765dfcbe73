#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "yosida/linalg/types.hpp"

namespace yosida::study {

/// What numpy.random.RandomState(seed) draws, to the last bit: the field's benchmarks draw their data and
/// parts by it. For these alone; everything else draws by Random.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : bits_(seed) {}

  /// Uniform on [0, 1), with 53 bits.
  double uniform();
  /// Standard normal, by Marsaglia's polar method.
  double normal();
  /// The numbers 0, …, count − 1 in a drawn order.
  std::vector<Index> permutation(Index count);
  /// Uniform on {0, …, most}.
  std::uint32_t up_to(std::uint32_t most);

 private:
  std::mt19937 bits_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace yosida::study
