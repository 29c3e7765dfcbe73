#pragma once

#include <string>

#include "yosida/linalg/mpi.hpp"

namespace yosida::cli {

/// Joins the processes that a launcher has started with this one, where there are some. Of all of them the
/// first alone prints, and each takes its share of the cores of its machine. They share rows, or do whole
/// runs of a study each.
void join_ranks(bool shares_rows);
/// Null where this process is alone.
mpi::Session* session();
/// This process writes files and prints: it is alone, or the first.
bool is_first_rank();
/// "rank 1 (host, process 123): ", which a message begins with that is of one process; empty where it is
/// alone.
std::string own_rank();
/// The exit code of all processes; leaves in `message` what is to be said of the failure of one.
int leave_ranks(int code, std::string& message);

}  // namespace yosida::cli
