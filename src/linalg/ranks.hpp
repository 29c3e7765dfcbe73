#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "yosida/linalg/types.hpp"

// Processes that share the rows of one computation. Each of them runs the same program on the same numbers;
// of the passes over many rows it does its own share alone, and all of them hear of what the others have
// summed. So each goes on with the same bits, and these do not depend on how many there are: sums are taken
// block by block of rows, and added up in the order of the blocks.
//
// What is computed for each row (margins, slopes) a process has for its own rows. A function that looks at
// the numbers of all rows calls gather_rows first. Functions of this header that say "together" are called by
// all processes in the same order, outside of tasks.

namespace yosida::linalg {

/// How processes speak with each other. There is none in a process that is alone.
class Ranks {
 public:
  virtual ~Ranks() = default;
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Together: counts[r] numbers of each rank r, one behind the other; `own` has counts[rank()].
  virtual void gather(const double* own, std::span<const Index> counts, double* all) = 0;

 protected:
  int rank_ = 0;
  int size_ = 1;
};

/// What this thread does is shared with these from now on (null: with nobody). Threads that it has tasks done
/// by share nothing: a task does all of its work.
void share_rows_with(Ranks* ranks);
/// Null where the process is alone.
Ranks* ranks();
/// How many processes there are.
inline int rank_count() { return ranks() == nullptr ? 1 : ranks()->size(); }

/// Fewer rows are not worth sharing: each process does all of them.
constexpr Index kSharedRows = Index{1} << 15;

/// In how many blocks sums over so many rows are taken, one process or many: as many can work on them at
/// most.
constexpr Index blocks_of(Index rows) {
  return rows < (Index{1} << 19) ? 8 : rows < (Index{1} << 26) ? 64 : 1024;
}

/// The blocks [first, end) that are this process's own.
struct OwnBlocks {
  Index first, end;
  Index count() const { return end - first; }
};
OwnBlocks own_blocks(Index rows, Index blocks);

/// The rows [first, end) of so many that are this process's own.
struct OwnRows {
  Index first, end;
};
OwnRows own_rows(Index rows);

/// Together: out[j] += Σ_b v_b[j] for j < size, b = 0, 1, …, `own` holding the v of the own blocks one behind
/// the other, `stride` numbers from each to the next.
void add_blocks(Index rows, Index blocks, const double* own, std::size_t size, std::size_t stride,
                double* out);

/// Together: the `size` numbers of each block, in the order of the blocks, of which `own` holds the own ones.
std::vector<double> gather_blocks(Index rows, Index blocks, std::span<const double> own, std::size_t size);

/// Together: fills in the numbers of other processes' rows, `width` for each row.
void gather_rows(Index rows, Index width, double* numbers);
/// Returns the numbers of all rows: a copy in `place` where other processes have some, else `numbers` itself.
std::span<const double> gathered(Index rows, std::span<const double> numbers, std::vector<double>& place);

/// Numbers of several processes, one behind the other, and how many each has.
struct GatheredLists {
  std::vector<double> numbers;
  std::vector<Index> counts;
};
/// Together: the numbers that each has found in its own of so many rows; of one process alone where all have
/// looked at all of them.
GatheredLists gather_lists(Index rows, std::span<const double> own);
/// Together: what each process says, in their order.
std::vector<std::string> gather_texts(const std::string& own);

/// Together: whether any process says so.
bool any_rank(bool own);

}  // namespace yosida::linalg
