#pragma once

#include "linalg/rows.hpp"

namespace yosida::linalg {

/// True where rows need not lie one behind the other in the order they are read in.
inline bool is_scattered(const Design& x) { return Access::selection(x) != nullptr; }

}  // namespace yosida::linalg
