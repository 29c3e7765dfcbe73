#pragma once

#include <cstddef>
#include <span>

#include "yosida/linalg/types.hpp"

namespace yosida::linalg {

/// The pages that lie wholly inside of a block.
std::span<std::byte> pages_inside(const void* block, std::size_t bytes);

/// Tells the system that all of this memory is about to be written. It gives a large block out in large pages
/// then, where it has such; in pages of 4 KB it is called some 250 times for each megabyte.
void will_be_filled(void* block, std::size_t bytes);

/// A matrix to be filled.
template <typename AnyMatrix = Matrix>
AnyMatrix unfilled(Index rows, Index cols) {
  AnyMatrix matrix(rows, cols);
  will_be_filled(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(typename AnyMatrix::Scalar));
  return matrix;
}

template <typename AnyMatrix = Matrix>
AnyMatrix zeros(Index rows, Index cols) {
  AnyMatrix matrix = unfilled<AnyMatrix>(rows, cols);
  matrix.setZero();
  return matrix;
}

}  // namespace yosida::linalg
