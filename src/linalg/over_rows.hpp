#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "linalg/ranks.hpp"
#include "linalg/tasks.hpp"
#include "yosida/linalg/types.hpp"

namespace yosida::linalg {

/// Passes of more operations than this go over the rows in blocks, each with its own accumulator, whatever
/// the number of threads and processes: so the sum does not depend on it.
constexpr Index kChunkedSize = Index{1} << 17;

/// The blocks of a pass over so many rows with so many operations.
constexpr Index blocks_of_pass(Index rows, Index operations) {
  const bool is_small = operations < kChunkedSize && rows < kSharedRows;
  return is_small || rows < blocks_of(rows) ? 1 : blocks_of(rows);
}

/// Calls body(begin, end, out) on ranges of rows and adds up what it returns and what it accumulates.
/// `weight`: an operation takes as long as so many that read numbers one behind the other.
template <typename Body>
double over_rows(Index rows, Index operations, std::span<double> out, const Body& body, Index weight = 1) {
  const Index blocks = blocks_of_pass(rows, operations);
  if (blocks == 1) return body(Index{0}, rows, out.data());
  const OwnBlocks own = own_blocks(rows, blocks);
  thread_local std::vector<double> accumulators;
  // One cache line between two accumulators keeps threads off each other's lines. The first number of it is
  // what the body returns.
  const std::size_t stride = out.size() + 8;
  accumulators.assign(stride * static_cast<std::size_t>(own.count()), 0.0);
  double* const base = accumulators.data();
  const auto pass_over = [&](Index task) {
    double* const sums = base + static_cast<std::size_t>(task) * stride;
    const Index block = own.first + task;
    sums[out.size()] = body(rows * block / blocks, rows * (block + 1) / blocks, sums);
  };
  run_tasks(own.count(), weight * operations, pass_over);
  double total = 0.0;
  if (own.count() == blocks) {
    for (Index block = 0; block < blocks; ++block) {
      const double* part = base + static_cast<std::size_t>(block) * stride;
      total += part[out.size()];
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += part[j];
    }
    return total;
  }
  thread_local std::vector<double> all;
  all.assign(out.begin(), out.end());
  all.push_back(0.0);
  add_blocks(rows, blocks, base, out.size() + 1, stride, all.data());
  std::copy_n(all.begin(), out.size(), out.begin());
  return all.back();
}

}  // namespace yosida::linalg
