#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case.hpp"

namespace yosida::bench {

/// What `yosida tune` answers on data as people bring it, judged by a truth that shares nothing with it.
struct KindSweep {
  std::vector<std::string> kinds;
  std::string method;
  CaseOptions options;
  int runs = 1000;  ///< of each kind
  std::uint64_t seed0 = 0;
  std::optional<std::uint64_t> seed;
  int jobs = 2;
  int worst = 0;
  double floor = 1e-9;
  bool verbose = false;
  std::string csv;
};

void sweep_kinds(const KindSweep& flags);

}  // namespace yosida::bench
