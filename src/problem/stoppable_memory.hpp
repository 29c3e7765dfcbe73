#pragma once

#include "yosida/stop.hpp"

namespace yosida {

/// What a SolveMemory also is where it is told when its run is to stop, for what it makes outside of solves,
/// whose options say so.
class StoppableMemory {
 public:
  virtual ~StoppableMemory() = default;
  /// Until the next call; null is never. The token must outlive the time it is known.
  virtual void stop_by(const StopToken* stop) = 0;
};

}  // namespace yosida
