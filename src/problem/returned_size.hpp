#pragma once

#include <string>

#include "yosida/error.hpp"
#include "yosida/linalg/types.hpp"

namespace yosida {

/// Throws InputError unless the function of a problem that has this name has left as many numbers as it must:
/// a user's own function may have given its vector another size.
inline void require_returned(const char* name, const Vector& out, Index size) {
  if (out.size() != size)
    throw InputError(std::string(name) + ": returned " + std::to_string(out.size()) +
                     (out.size() == 1 ? " number: must be " : " numbers: must be ") + std::to_string(size));
}

}  // namespace yosida
