#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "yosida/linalg/types.hpp"

namespace yosida::bench {

/// What methods do where nobody has tuned them: random problems of every condition, start and step size.
/// The truth is the library's own oracle.
struct MethodSweep {
  int runs = 1000;
  std::vector<std::string> methods = {"sho", "my-hpo-c", "my-hpo-bt"};
  std::uint64_t seed0 = 0;
  std::optional<std::uint64_t> seed;
  int jobs = 2;
  int worst = 0;
  Index largest_logistic = 300;
  double floor = 1e-9;
  bool verbose = false;
  std::string csv;
};

void sweep_methods(const MethodSweep& flags);

}  // namespace yosida::bench
