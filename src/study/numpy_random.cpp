#include "study/numpy_random.hpp"

#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace yosida::study {

double NumpyRandom::uniform() {
  const auto high = static_cast<double>(bits_() >> 5U);
  const auto low = static_cast<double>(bits_() >> 6U);
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

double NumpyRandom::normal() {
  if (std::exchange(has_spare_, false)) return spare_;
  double a = 0.0, b = 0.0, square = 0.0;
  do {
    a = 2.0 * uniform() - 1.0;
    b = 2.0 * uniform() - 1.0;
    square = a * a + b * b;
  } while (square >= 1.0 || square == 0.0);
  const double factor = std::sqrt(-2.0 * std::log(square) / square);
  spare_ = factor * a;
  has_spare_ = true;
  return factor * b;
}

std::uint32_t NumpyRandom::up_to(std::uint32_t most) {
  if (most == 0) return 0;
  const std::uint32_t mask = std::uint32_t{0xffffffff} >> static_cast<unsigned>(std::countl_zero(most));
  for (;;)
    if (const auto drawn = static_cast<std::uint32_t>(bits_()) & mask; drawn <= most) return drawn;
}

std::vector<Index> NumpyRandom::permutation(Index count) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t i = order.size(); i-- > 1;)
    std::swap(order[i], order[up_to(static_cast<std::uint32_t>(i))]);
  return order;
}

}  // namespace yosida::study
