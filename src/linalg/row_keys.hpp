#pragma once

#include <cstdint>
#include <vector>

#include "yosida/linalg/design.hpp"

namespace yosida {

/// A number for each row that its numbers decide: equal rows have equal ones, whether or not zeros are
/// stored, and others hardly ever. Of rows as they are stored, before any step.
std::vector<std::uint64_t> row_keys(const Design& x);

}  // namespace yosida
