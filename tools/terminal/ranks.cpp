#include "ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "progress.hpp"
#include "yosida/linalg/threads.hpp"

namespace yosida::cli {
namespace {

std::unique_ptr<mpi::Session>& held() {
  static std::unique_ptr<mpi::Session> session;
  return session;
}

/// The cores that this process is bound to, or its share of those of its machine.
int cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int allowed = CPU_COUNT(&set);
  if (allowed < sysconf(_SC_NPROCESSORS_ONLN)) return allowed;
  const char* const here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return std::max(1, allowed / std::max(1, here != nullptr ? std::atoi(here) : 1));
}

}  // namespace

void join_ranks(bool shares_rows) {
  if (!mpi::is_launched()) return;
  held() = std::make_unique<mpi::Session>();
  if (shares_rows) Interruption::share(*held());
  set_threads(cores());
  if (is_first_rank()) return;
  const int nowhere = ::open("/dev/null", O_WRONLY);
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, descriptor);
}

mpi::Session* session() { return held().get(); }

bool is_first_rank() { return session() == nullptr || session()->rank() == 0; }

std::string own_rank() {
  if (session() == nullptr) return "";
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return fmt::format("rank {} ({}, process {}): ", session()->rank(), host, getpid());
}

int leave_ranks(int code, std::string& message) {
  if (session() == nullptr) return code;
  const mpi::Ended all = session()->end(code, message);
  message = all.message;
  return all.code;
}

}  // namespace yosida::cli
