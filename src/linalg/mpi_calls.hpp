#pragma once

#include <cstdint>

// What libyosida_mpi.so does for the library. It is opened where a launcher has started this process as one
// of several; without one nothing of MPI is loaded.

namespace yosida::linalg {

struct MpiCalls {
  /// Once, at first. From then on each rank watches the one before it: one that does not answer for a while
  /// ends the job with a message. `communicator` is that of a host who has started MPI, as Fortran has it
  /// (MPI_Comm_c2f); null: MPI is started here, and the ranks are all there are. Returns false where MPI
  /// cannot be used.
  bool (*start)(const int* communicator, int* rank, int* size);
  /// counts[r] bytes of each rank r, one behind the other.
  void (*gather)(const void* own, const std::int64_t* counts, void* all);
  /// At last, by all ranks together; then it may be started again with another communicator of a host.
  void (*finish)();
};

/// The name of the function that returns them.
constexpr const char* kMpiFunction = "yosida_mpi";
using MpiFunction = const MpiCalls*();

}  // namespace yosida::linalg
