#pragma once

#include <unistd.h>

#include "yosida/linalg/mpi.hpp"

namespace yosida::cli {

/// Whether a person reads what is written to this descriptor. A launcher gives its processes terminals of its
/// own.
inline bool is_terminal(int descriptor) { return ::isatty(descriptor) != 0 && !mpi::is_launched(); }

}  // namespace yosida::cli
