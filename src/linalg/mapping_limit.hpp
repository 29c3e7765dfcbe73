#pragma once

#include <sys/resource.h>

namespace yosida::linalg {

/// The smallest limit on what may be mapped (ulimit -v, ulimit -d); RLIM_INFINITY where there is none.
/// Without one a mapping never fails before memory is out.
rlim_t mapping_limit();

}  // namespace yosida::linalg
