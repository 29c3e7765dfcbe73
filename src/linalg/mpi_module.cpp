#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "linalg/mpi_calls.hpp"

namespace {

/// A process counts as lost when it has been silent for so many beats of a neighbour that was awake itself.
constexpr int kSilentBeats = 20;
constexpr std::chrono::milliseconds kBeat{1000};

struct State {
  int rank = 0;
  int size = 1;
  bool is_host = true;  // of MPI: it was started here, and ends here
  MPI_Comm sums = MPI_COMM_NULL;
  MPI_Comm beats = MPI_COMM_NULL;
  std::vector<std::string> places;  // host and process of each rank
  int messages = 2;                 // standard error as it was at the start
  bool watches = false;             // needs a thread of its own that speaks, too
  std::mutex guard;
  std::condition_variable ending;
  bool ends = false;
  std::thread watch;

  /// Waits for so long, or until all ranks have come to their end. Returns whether they have.
  bool ends_within(std::chrono::milliseconds time) {
    std::unique_lock lock(guard);
    return ending.wait_for(lock, time, [this] { return ends; });
  }
  void set_ends(bool value) {
    const std::lock_guard lock(guard);
    ends = value;
    ending.notify_all();
  }
};

State& state() {
  static State one;
  return one;
}

/// Each rank sends a byte to the next every second, and ends the job where the one before it sends none. A
/// pause of the whole machine silences nobody: beats are counted by who waits, who was paused as well.
void watch_neighbour() {
  State& s = state();
  const int next = (s.rank + 1) % s.size, before = (s.rank + s.size - 1) % s.size;
  char byte = 0;
  int silent = 0;
  for (;;) {
    MPI_Send(&byte, 1, MPI_CHAR, next, 0, s.beats);
    if (s.ends_within(kBeat)) return;
    ++silent;
    for (;;) {
      int is_there = 0;
      MPI_Iprobe(before, 0, s.beats, &is_there, MPI_STATUS_IGNORE);
      if (is_there == 0) break;
      MPI_Recv(&byte, 1, MPI_CHAR, before, 0, s.beats, MPI_STATUS_IGNORE);
      silent = 0;
    }
    if (silent < kSilentBeats) continue;
    dprintf(s.messages,
            "yosida: rank %d (%s) has not answered for %d seconds: all ranks end; the same command with its "
            "--checkpoint goes on, on any number of ranks\n",
            before, s.places[static_cast<std::size_t>(before)].c_str(), kSilentBeats);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/// Ranks of one machine speak through its memory: MPI then looks for no fast network, which takes it 0.2 s.
/// Whoever says otherwise (mpirun --mca pml) is heard.
void stay_on_this_machine() {
  const char* const all = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char* const here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (all != nullptr && here != nullptr && std::strcmp(all, here) == 0) setenv("OMPI_MCA_pml", "ob1", 0);
}

/// The ranks of this process, with as much of threads as MPI gives.
bool join(State& s, const int* communicator) {
  int given = 0, is_started = 0;
  MPI_Initialized(&is_started);
  s.is_host = communicator == nullptr;
  if (s.is_host == (is_started != 0)) return false;
  if (s.is_host) stay_on_this_machine();
  if (s.is_host && MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given) != MPI_SUCCESS)
    return false;
  if (!s.is_host) MPI_Query_thread(&given);
  const MPI_Comm all = s.is_host ? MPI_COMM_WORLD : MPI_Comm_f2c(static_cast<MPI_Fint>(*communicator));
  if (all == MPI_COMM_NULL) return false;
  MPI_Comm_dup(all, &s.sums);
  MPI_Comm_dup(all, &s.beats);
  MPI_Comm_rank(s.sums, &s.rank);
  MPI_Comm_size(s.sums, &s.size);
  s.watches = given == MPI_THREAD_MULTIPLE && s.size > 1;
  return true;
}

bool start(const int* communicator, int* rank, int* size) {
  State& s = state();
  if (!join(s, communicator)) return false;
  *rank = s.rank;
  *size = s.size;
  s.messages = dup(STDERR_FILENO);
  constexpr int kLongest = 300;
  char place[kLongest] = {};
  char host[kLongest - 40] = {};
  gethostname(host, sizeof host - 1);
  std::snprintf(place, sizeof place, "%s, process %d", host, static_cast<int>(getpid()));
  std::vector<char> all(static_cast<std::size_t>(kLongest) * static_cast<std::size_t>(s.size));
  MPI_Allgather(place, kLongest, MPI_CHAR, all.data(), kLongest, MPI_CHAR, s.sums);
  s.places.clear();
  for (int r = 0; r < s.size; ++r)
    s.places.emplace_back(all.data() + static_cast<std::ptrdiff_t>(kLongest) * r);
  s.set_ends(false);
  if (s.watches) s.watch = std::thread(watch_neighbour);
  return true;
}

/// Until it is done. MPI itself waits by asking again and again, which takes the core from a process that has
/// still to come: here it is asked for a moment only, then now and then.
void wait_for(MPI_Request& request) {
  constexpr std::chrono::microseconds kMoment{2000}, kPause{200};
  const auto begin = std::chrono::steady_clock::now();
  for (int is_done = 0;;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0) return;
    if (std::chrono::steady_clock::now() - begin > kMoment) std::this_thread::sleep_for(kPause);
  }
}

void gather(const void* own, const std::int64_t* counts, void* all) {
  const State& s = state();
  // MPI counts in int: words of eight bytes reach eight times as far, and longer ones go rank by rank in
  // parts.
  std::vector<int> sizes(static_cast<std::size_t>(s.size)), places(sizes.size());
  std::int64_t at = 0;
  bool fits = true;
  for (int rank = 0; rank < s.size; ++rank) {
    const std::int64_t count = counts[rank];
    fits = fits && count % 8 == 0 && (at + count) / 8 <= std::numeric_limits<int>::max();
    sizes[static_cast<std::size_t>(rank)] = static_cast<int>(count / 8);
    places[static_cast<std::size_t>(rank)] = static_cast<int>(at / 8);
    at += count;
  }
  if (fits) {
    MPI_Request request;
    MPI_Iallgatherv(own, sizes[static_cast<std::size_t>(s.rank)], MPI_DOUBLE, all, sizes.data(),
                    places.data(), MPI_DOUBLE, s.sums, &request);
    wait_for(request);
    return;
  }
  constexpr std::int64_t kPart = std::int64_t{1} << 30;
  char* to = static_cast<char*>(all);
  for (int rank = 0; rank < s.size; ++rank)
    for (std::int64_t done = 0; done < counts[rank]; done += kPart) {
      const std::int64_t count = counts[rank] - done < kPart ? counts[rank] - done : kPart;
      if (rank == s.rank) {
        const char* const from = static_cast<const char*>(own) + done;
        for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
      }
      MPI_Bcast(to, static_cast<int>(count), MPI_CHAR, rank, s.sums);
      to += count;
    }
}

void finish() {
  State& s = state();
  MPI_Barrier(s.sums);
  s.set_ends(true);
  if (s.watch.joinable()) s.watch.join();
  close(s.messages);
  // Beats that nobody took are on their way still, so that their communicator is left to the end of MPI.
  if (s.is_host) {
    MPI_Finalize();
  } else {
    MPI_Comm_free(&s.sums);
  }
}

constexpr yosida::linalg::MpiCalls kCalls = {start, gather, finish};

}  // namespace

extern "C" __attribute__((visibility("default"))) const yosida::linalg::MpiCalls* yosida_mpi() {
  return &kCalls;
}
