#pragma once

#include <string>

#include "yosida/export.hpp"

namespace YOSIDA_EXPORT yosida {

/// The name that BLAS gives the kernels it computes with ("SkylakeX", say); empty where it tells none.
std::string blas_kernels();

/// OpenBLAS knows only processors that are older than itself. On a newer one it falls back to kernels without
/// AVX, which take four times as long. This has it compute with the fastest kernels that the processor can
/// run, unless the environment variable OPENBLAS_CORETYPE names others. Returns true where it changed them.
///
/// The kernels are those of the whole process, and results differ between kernels by rounding: a program
/// calls this once, at its start, before any thread uses BLAS. The library itself never does.
bool use_fast_blas_kernels();

}  // namespace yosida
