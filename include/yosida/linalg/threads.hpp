#pragma once

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// How many threads passes over large designs may use: all cores unless set. Results do not depend on
/// it, to the last bit. For the same reason factorisations use one BLAS thread: the first of them sets
/// OpenBLAS to one thread for the process. For the whole process, and not while a solver runs.
void set_threads(int count);
/// As many as were set, or as many as there are cores.
int threads();

}  // namespace yosida
