#pragma once

#include <cstdint>

// What libyosida_mpi.so does for the library. It is opened where a launcher has started this process as one
// of several; without one nothing of MPI is loaded.

namespace yosida::linalg {

struct MpiCalls {
  /// Once, at first. From then on each rank watches the one before it: one that does not answer for a while
  /// ends the job with a message. Returns false where MPI cannot be used.
  bool (*start)(int* rank, int* size);
  /// counts[r] bytes of each rank r, one behind the other.
  void (*gather)(const void* own, const std::int64_t* counts, void* all);
  /// Once, at last, by all ranks together.
  void (*finish)();
};

/// The name of the function that returns them.
constexpr const char* kMpiFunction = "yosida_mpi";
using MpiFunction = const MpiCalls*();

}  // namespace yosida::linalg
