#pragma once

#include <cstdint>
#include <vector>

#include "yosida/linalg/design.hpp"

namespace yosida {

/// A key for each row, made of its numbers as they are stored, before any step: equal rows have equal keys,
/// whether or not zeros are stored, and different rows hardly ever do.
std::vector<std::uint64_t> row_keys(const Design& x);

}  // namespace yosida
