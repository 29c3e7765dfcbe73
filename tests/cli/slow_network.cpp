// Loaded into the processes of mpirun by LD_PRELOAD: a network that is slower than that of this machine.
//
//   YOSIDA_NETWORK="0.001 1.25e9"   a message takes a millisecond and its bytes at 10 Gbit/s
//
// An exchange among N processes takes as many rounds as N has binary digits to count to (2: 1, 4: 2, 100: 7),
// and each process hears of all bytes. At its end the first process writes to standard error how many
// exchanges there were, of how many bytes, and the seconds inside of them.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

struct Network {
  double latency = 0.0;
  double bytes_a_second = 1e18;
  long exchanges = 0;
  double bytes = 0.0;
  double seconds = 0.0;

  Network() {
    if (const char* text = std::getenv("YOSIDA_NETWORK")) {
      char* rest = nullptr;
      latency = std::strtod(text, &rest);
      if (const double rate = std::strtod(rest, nullptr); rate > 0.0) bytes_a_second = rate;
    }
  }

  void wait(int size, double count) {
    int rounds = 0;
    while ((1 << rounds) < size) ++rounds;
    const double delay = rounds * latency + (size > 1 ? count / bytes_a_second : 0.0);
    if (delay > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(delay));
  }
};

Network& network() {
  static Network only;
  return only;
}

}  // namespace

extern "C" {

int MPI_Iallgatherv(const void* own, int count, MPI_Datatype type, void* all, const int counts[],
                    const int places[], MPI_Datatype types, MPI_Comm ranks, MPI_Request* request) {
  const auto begin = Clock::now();
  int code = PMPI_Iallgatherv(own, count, type, all, counts, places, types, ranks, request);
  if (code == MPI_SUCCESS) code = PMPI_Wait(request, MPI_STATUS_IGNORE);  // who waits finds it done
  int size = 1;
  PMPI_Comm_size(ranks, &size);
  double bytes = 0.0;
  for (int rank = 0; rank < size; ++rank) bytes += 8.0 * counts[rank];
  network().wait(size, bytes);
  ++network().exchanges;
  network().bytes += bytes;
  network().seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  return code;
}

int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::fprintf(stderr, "network: %ld exchanges of %.0f bytes in %.6f seconds\n", network().exchanges,
                 network().bytes, network().seconds);
  return PMPI_Finalize();
}
}
