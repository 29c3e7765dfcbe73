#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace yosida::cli {

/// What a run may cost and where it may look: the flags that tune and compare share.
struct RunFlags {
  std::optional<std::int64_t> budget_gradients, max_iterations;
  std::optional<double> time_limit, lambda0;
  std::string bounds;
  std::optional<int> threads;

  void add_to(CLI::App& command);
};

}  // namespace yosida::cli
