#include "linalg/ranks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace yosida::linalg {
namespace {

thread_local Ranks* shared_with = nullptr;

Index first_block(Index blocks, int rank, int size) { return blocks * rank / size; }

/// A number of each process.
std::vector<double> gather_numbers(double own) {
  const std::vector<Index> counts(static_cast<std::size_t>(shared_with->size()), 1);
  std::vector<double> all(counts.size());
  shared_with->gather(&own, counts, all.data());
  return all;
}

/// Lists of the processes, whatever their rows.
GatheredLists gather_all(std::span<const double> own) {
  const std::vector<double> sizes = gather_numbers(static_cast<double>(own.size()));
  GatheredLists lists{.numbers = {}, .counts = {sizes.begin(), sizes.end()}};
  lists.numbers.resize(
      static_cast<std::size_t>(std::accumulate(lists.counts.begin(), lists.counts.end(), Index{0})));
  shared_with->gather(own.data(), lists.counts, lists.numbers.data());
  return lists;
}

bool is_shared(Index rows) { return rank_count() > 1 && rows >= kSharedRows; }

}  // namespace

void share_rows_with(Ranks* ranks) { shared_with = ranks; }

Ranks* ranks() { return shared_with; }

OwnBlocks own_blocks(Index rows, Index blocks) {
  if (!is_shared(rows)) return {0, blocks};
  const int rank = shared_with->rank(), size = shared_with->size();
  return {first_block(blocks, rank, size), first_block(blocks, rank + 1, size)};
}

OwnRows own_rows(Index rows) {
  const Index blocks = blocks_of(rows);
  const OwnBlocks own = own_blocks(rows, blocks);
  return {rows * own.first / blocks, rows * own.end / blocks};
}

std::vector<double> gather_blocks(Index rows, Index blocks, std::span<const double> own, std::size_t size) {
  if (!is_shared(rows)) return {own.begin(), own.end()};
  const int ranks = shared_with->size();
  std::vector<Index> counts;
  for (int rank = 0; rank < ranks; ++rank)
    counts.push_back((first_block(blocks, rank + 1, ranks) - first_block(blocks, rank, ranks)) *
                     static_cast<Index>(size));
  std::vector<double> all(static_cast<std::size_t>(blocks) * size);
  shared_with->gather(own.data(), counts, all.data());
  return all;
}

void add_blocks(Index rows, Index blocks, const double* own, std::size_t size, std::size_t stride,
                double* out) {
  const auto add = [&](const double* block, std::size_t count, std::size_t step, std::size_t at) {
    for (Index b = 0; b < blocks; ++b, block += step)
      for (std::size_t j = 0; j < count; ++j) out[at + j] += block[j];
  };
  if (!is_shared(rows)) {
    add(own, size, stride, 0);
    return;
  }
  // Some numbers of all blocks at a time: what is gathered stays small where blocks are matrices.
  constexpr std::size_t kMostNumbers = std::size_t{1} << 20;
  const std::size_t slice = std::max<std::size_t>(kMostNumbers / static_cast<std::size_t>(blocks), 1);
  const auto own_count = static_cast<std::size_t>(own_blocks(rows, blocks).count());
  std::vector<double> packed;
  for (std::size_t at = 0; at < size; at += slice) {
    const std::size_t count = std::min(slice, size - at);
    packed.resize(own_count * count);
    for (std::size_t b = 0; b < own_count; ++b)
      std::copy_n(own + b * stride + at, count, packed.data() + b * count);
    add(gather_blocks(rows, blocks, packed, count).data(), count, count, at);
  }
}

void gather_rows(Index rows, Index width, double* numbers) {
  if (!is_shared(rows)) return;
  const Index blocks = blocks_of(rows);
  const int ranks = shared_with->size();
  const auto first_row = [&](int rank) { return rows * first_block(blocks, rank, ranks) / blocks; };
  std::vector<Index> counts;
  for (int rank = 0; rank < ranks; ++rank) counts.push_back((first_row(rank + 1) - first_row(rank)) * width);
  const int rank = shared_with->rank();
  const double* const begin = numbers + first_row(rank) * width;
  const std::vector<double> own(begin, begin + counts[static_cast<std::size_t>(rank)]);
  shared_with->gather(own.data(), counts, numbers);
}

std::span<const double> gathered(Index rows, std::span<const double> numbers, std::vector<double>& place) {
  if (!is_shared(rows) || numbers.empty()) return numbers;
  place.assign(numbers.begin(), numbers.end());
  gather_rows(rows, static_cast<Index>(numbers.size()) / rows, place.data());
  return place;
}

GatheredLists gather_lists(Index rows, std::span<const double> own) {
  if (is_shared(rows)) return gather_all(own);
  return {.numbers = {own.begin(), own.end()}, .counts = {static_cast<Index>(own.size())}};
}

std::vector<std::string> gather_texts(const std::string& own) {
  if (shared_with == nullptr) return {own};
  // In words of eight bytes, behind the number of bytes.
  std::vector<double> words(1 + (own.size() + sizeof(double) - 1) / sizeof(double));
  words[0] = static_cast<double>(own.size());
  if (!own.empty()) std::memcpy(&words[1], own.data(), own.size());
  const GatheredLists all = gather_all(words);
  std::vector<std::string> texts;
  const double* at = all.numbers.data();
  for (const Index count : all.counts) {
    texts.emplace_back(reinterpret_cast<const char*>(at + 1), static_cast<std::size_t>(at[0]));
    at += count;
  }
  return texts;
}

bool any_rank(bool own) {
  if (shared_with == nullptr) return own;
  const std::vector<double> all = gather_numbers(own ? 1.0 : 0.0);
  return std::any_of(all.begin(), all.end(), [](double each) { return each != 0.0; });
}

}  // namespace yosida::linalg
