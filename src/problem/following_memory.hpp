#pragma once

#include "yosida/problem/bilevel_problem.hpp"

namespace yosida {

/// What a SolveMemory also is where problems that are nearly equal can share what is large in it, as folds
/// do.
class FollowingMemory {
 public:
  virtual ~FollowingMemory() = default;
  /// From now on this memory uses the large parts of `leader`, which must outlive it. False where that would
  /// not help; both then stay as they are. Every solve must be done with the leader first, and no solve with
  /// the leader may run beside one of its followers.
  virtual bool follow(SolveMemory& leader) = 0;
};

}  // namespace yosida
