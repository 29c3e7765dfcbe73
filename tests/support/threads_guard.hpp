#pragma once

#include "yosida/linalg/threads.hpp"

namespace yosida::test {

/// Puts the number of threads back where a test ends.
struct ThreadsGuard {
  int before = threads();
  ThreadsGuard() = default;
  explicit ThreadsGuard(int count) { set_threads(count); }
  ThreadsGuard(const ThreadsGuard&) = delete;
  ThreadsGuard& operator=(const ThreadsGuard&) = delete;
  ~ThreadsGuard() { set_threads(before); }
};

}  // namespace yosida::test
