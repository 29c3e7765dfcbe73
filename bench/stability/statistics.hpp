#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <vector>

namespace yosida::bench {

/// Of this thread, so that a busy machine does not change them.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

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
