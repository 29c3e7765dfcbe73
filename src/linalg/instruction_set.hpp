#pragma once

namespace yosida::linalg {

/// What kernels are built for, by number so that a table of variants can be indexed by it: 0 the least that
/// the architecture has; of x86-64 also 1 (level v3: AVX2) and 2 (level v4: AVX-512). See
/// cmake/kernels.cmake.
int instruction_set();

}  // namespace yosida::linalg
