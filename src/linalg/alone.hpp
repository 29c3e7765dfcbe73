#pragma once

#include "linalg/ranks.hpp"

namespace yosida::linalg {

/// What `work` gives, done without the other processes.
template <typename Work>
auto alone(const Work& work) {
  struct Together {
    Ranks* others;
    ~Together() { share_rows_with(others); }
  } const afterwards{ranks()};
  share_rows_with(nullptr);
  return work();
}

}  // namespace yosida::linalg
