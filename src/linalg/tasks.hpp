#pragma once

#include <exception>
#include <vector>

#include "linalg/ranks.hpp"
#include "yosida/linalg/function_ref.hpp"
#include "yosida/linalg/types.hpp"

namespace yosida::linalg {

/// How many threads work on so many tasks of so many operations in all. One where they would be done before
/// threads have woken up, inside a task, and where memory is limited (ulimit -v): a
/// thread takes much of it.
int team_size(Index tasks, Index operations);

/// Calls task(0), …, task(count − 1), in no order, by so many threads: this one and others of the one pool
/// that the process has. Where these work for somebody else, this one does all of it. No task may throw.
void run_by_team(int team, Index count, FunctionRef<void(Index)> task);

/// Calls task(0), …, task(count − 1), in no order: from several threads where they have as many `operations`
/// in all as pays for these. Each writes to memory of its own, so
/// that results do not depend on the number of threads. An exception of a task is thrown here.
template <typename Task>
void run_tasks(Index count, Index operations, const Task& task) {
  const int team = team_size(count, operations);
  if (team <= 1) {
    for (Index i = 0; i < count; ++i) task(i);
    return;
  }
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  run_by_team(team, count, [&](Index i) {
    try {
      task(i);
    } catch (...) {
      failures[static_cast<std::size_t>(i)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

/// The same for few long tasks that use threads themselves: as many at a time as there are threads, and each
/// that is left over has all of these to itself. Where processes share rows, one task after the other,
/// because they must be together in each.
template <typename Task>
void run_side_by_side(Index count, Index operations, const Task& task) {
  if (rank_count() > 1) {
    for (Index i = 0; i < count; ++i) task(i);
    return;
  }
  const Index left_over = count % team_size(count, operations);
  run_tasks(count - left_over, operations, task);
  for (Index i = count - left_over; i < count; ++i) task(i);
}

}  // namespace yosida::linalg
