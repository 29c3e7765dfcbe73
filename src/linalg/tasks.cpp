#include "linalg/tasks.hpp"

#include <omp.h>

#include <algorithm>

#include "linalg/mapping_limit.hpp"
#include "yosida/linalg/threads.hpp"

namespace yosida::linalg {

rlim_t mapping_limit() {
  rlimit addresses{}, data{};
  if (getrlimit(RLIMIT_AS, &addresses) != 0 || getrlimit(RLIMIT_DATA, &data) != 0) return RLIM_INFINITY;
  return std::min(addresses.rlim_cur, data.rlim_cur);
}

int team_size(Index tasks, Index operations) {
  constexpr Index kWorthwhile = Index{1} << 20;
  constexpr rlim_t kRoomForThreads = rlim_t{2} << 30;  // each has a stack, an arena and buffers of BLAS
  static const bool is_limited = mapping_limit() < kRoomForThreads;
  if (operations < kWorthwhile || is_limited || omp_in_parallel() != 0) return 1;
  return static_cast<int>(std::min<Index>(threads(), tasks));
}

}  // namespace yosida::linalg
