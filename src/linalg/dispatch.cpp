#include "linalg/kernels.hpp"

namespace yosida::linalg {

const Kernels& kernels() {
#ifdef YOSIDA_X86_KERNELS
  static const Kernels& chosen = []() -> const Kernels& {
    __builtin_cpu_init();
    // By what tells the levels x86-64-v3 and -v4 apart: not every compiler knows these by name.
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    if (v4) return kernels_v4;
    if (v3) return kernels_v3;
    return kernels_baseline;
  }();
  return chosen;
#else
  return kernels_baseline;
#endif
}

}  // namespace yosida::linalg
