#include "search/sobol.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "search/joe_kuo.hpp"
#include "yosida/error.hpp"

namespace yosida::search {
namespace {

static_assert(kSobolDimensions == kJoeKuo.size() + 1);

constexpr int kBits = 32;
/// v_1, v_2, … as fractions of 2^32.
using Directions = std::array<std::uint32_t, kBits>;

Directions van_der_corput() {
  Directions v{};
  for (int i = 0; i < kBits; ++i) v[i] = 1U << (kBits - 1 - i);
  return v;
}

/// v_i = v_{i−s} ⊕ (v_{i−s} >> s) ⊕ a_1 v_{i−1} ⊕ … ⊕ a_{s−1} v_{i−s+1}, of degree s and coefficients a.
Directions directions(const DirectionNumbers& numbers) {
  const int degree = std::bit_width(numbers.polynomial) - 1;
  Directions v{};
  for (int i = 0; i < degree; ++i) v[i] = numbers.initial[i] << (kBits - 1 - i);
  for (int i = degree; i < kBits; ++i) {
    v[i] = v[i - degree] ^ (v[i - degree] >> degree);
    for (int k = 1; k < degree; ++k)
      if ((numbers.polynomial >> (degree - k)) & 1U) v[i] ^= v[i - k];
  }
  return v;
}

}  // namespace

Matrix sobol_points(Index dimensions, Index count) {
  if (dimensions < 1 || dimensions > kSobolDimensions)
    throw InputError(
        fmt::format("Sobol sequence: {} dimensions: must be from 1 to {}", dimensions, kSobolDimensions));
  Matrix points(count, dimensions);
  for (Index j = 0; j < dimensions; ++j) {
    const Directions v = j == 0 ? van_der_corput() : directions(kJoeKuo[j - 1]);
    std::uint32_t x = 0;
    for (Index i = 0; i < count; ++i) {
      points(i, j) = x * 0x1.0p-32;
      // Gray code: point i + 1 differs from point i by the direction of the lowest zero bit of i.
      x ^= v[std::countr_one(static_cast<std::uint32_t>(i))];
    }
  }
  return points;
}

}  // namespace yosida::search
