#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace yosida::bench {

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The value that a share of them does not exceed.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(place, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace yosida::bench
