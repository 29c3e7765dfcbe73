#pragma once

#include "linalg/archive.hpp"

namespace yosida {

/// What a SolveMemory also is where a checkpoint can hold it.
class ArchivedMemory {
 public:
  virtual ~ArchivedMemory() = default;
  /// All that later solves depend on, to the last bit.
  virtual void exchange(Archive& archive) = 0;
};

}  // namespace yosida
