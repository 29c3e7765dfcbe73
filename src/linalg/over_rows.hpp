#pragma once

#include <algorithm>
#include <exception>
#include <span>
#include <vector>

#include "linalg/tasks.hpp"
#include "yosida/linalg/types.hpp"

namespace yosida::linalg {

/// Passes of more operations than this go over the rows in kChunks ranges, each with its own accumulator,
/// whatever the number of threads: so the sum does not depend on it.
constexpr Index kChunkedSize = Index{1} << 17;
constexpr int kChunks = 8;

/// Calls body(begin, end, out) on ranges of rows and adds up what it returns and what it accumulates.
template <typename Body>
double over_rows(Index rows, Index operations, std::span<double> out, const Body& body) {
  if (operations < kChunkedSize || rows < kChunks) return body(Index{0}, rows, out.data());
  thread_local std::vector<double> accumulators;
  // One cache line between two accumulators keeps threads off each other's lines.
  const std::size_t stride = out.size() + 8;
  accumulators.assign(stride * kChunks, 0.0);
  double* const base = accumulators.data();
  double sums[kChunks];
  const auto pass_over = [&](int chunk) {
    const Index begin = rows * chunk / kChunks;
    const Index end = rows * (chunk + 1) / kChunks;
    sums[chunk] = body(begin, end, base + static_cast<std::size_t>(chunk) * stride);
  };
  const int team = team_size(kChunks, operations);
  if (team > 1) {
    std::exception_ptr failures[kChunks];  // an exception must not leave its thread (memory that is out)
#pragma omp parallel for num_threads(team) schedule(static)
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      try {
        pass_over(chunk);
      } catch (...) {
        failures[chunk] = std::current_exception();
      }
    }
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
  } else {  // apart, because a team of one still allocates
    for (int chunk = 0; chunk < kChunks; ++chunk) pass_over(chunk);
  }
  double total = 0.0;
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    total += sums[chunk];
    const double* part = base + static_cast<std::size_t>(chunk) * stride;
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += part[j];
  }
  return total;
}

}  // namespace yosida::linalg
