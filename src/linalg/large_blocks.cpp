#include "linalg/large_blocks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace yosida::linalg {

std::span<std::byte> pages_inside(const void* block, std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t into = reinterpret_cast<std::uintptr_t>(block) % page;
  const std::size_t before = into == 0 ? 0 : page - into;
  if (bytes < before + page) return {};
  // madvise takes what is only read, too, as a pointer to what is not.
  auto* const first = const_cast<std::byte*>(static_cast<const std::byte*>(block)) + before;
  return {first, (bytes - before) / page * page};
}

void will_be_filled(void* block, std::size_t bytes) {
  // Smaller blocks lie between others on the heap, whose pages are not ours to change.
  constexpr std::size_t kLarge = std::size_t{4} << 20;
  if (bytes < kLarge) return;
#ifdef MADV_HUGEPAGE
  const std::span<std::byte> pages = pages_inside(block, bytes);
  madvise(pages.data(), pages.size(), MADV_HUGEPAGE);  // advice: it may be refused
#endif
}

}  // namespace yosida::linalg
