#pragma once

#include <functional>
#include <memory>
#include <string>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// Rows that are shared by the processes of mpirun or srun. Each of them runs the same program on the same
/// files. While a Session lives, the passes over large designs are shared: each process reads its own rows,
/// and all of them go on with the same sums. Results have the same bits on any number of processes, and as
/// without any.
namespace mpi {

/// Whether a launcher started this process as one of a group.
bool is_launched();

/// Thrown out of any computation where another process has ended with an error: all end with it. It is no
/// std::exception, so that nobody takes it for something that can be done without.
struct Ended {
  int code;             ///< the exit code that the other has given
  std::string message;  ///< and what it has said
};

/// From its beginning to its end this thread shares its work with the other processes. At most one lives in a
/// process; one that starts MPI lives once.
class Session {
 public:
  /// Together with all other processes. Throws InputError where MPI cannot be loaded.
  Session();
  /// The same in a program that has started MPI itself: with the processes of one of its communicators, as
  /// Fortran has it (MPI_Comm_c2f, and py2f of mpi4py). Throws InputError where it is none.
  explicit Session(int communicator);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int rank() const;
  int size() const;
  /// Asks `wish` in each exchange. Where it is true in one process, all call `stop` at the same point:
  /// whatever decides how a computation goes on must be the same for all.
  void stop_where(std::function<bool()> wish, std::function<void()> stop);
  /// Waits for the others.
  void meet();
  /// Does something without the others.
  void alone(const std::function<void()>& work);
  /// Says how this process ends, and returns how all do: with the code and message of the first that has
  /// failed. The others hear of it where they meet next.
  Ended end(int code, const std::string& message);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpi
}  // namespace yosida
