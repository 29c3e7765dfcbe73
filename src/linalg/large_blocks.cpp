#include "linalg/large_blocks.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace yosida::linalg {

void will_be_filled(void* block, std::size_t bytes) {
  // Smaller blocks lie between others on the heap, whose pages are not ours to change.
  constexpr std::size_t kLarge = std::size_t{4} << 20;
  constexpr std::uintptr_t kPage = 4096;
  if (bytes < kLarge) return;
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t first = (address + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (address + bytes) / kPage * kPage;
#ifdef MADV_HUGEPAGE
  madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);  // advice: it may be refused
#endif
}

}  // namespace yosida::linalg
