#include "linalg/instruction_set.hpp"

namespace yosida::linalg {

int instruction_set() {
#ifdef YOSIDA_X86_KERNELS
  static const int found = [] {
    __builtin_cpu_init();
    // These features tell x86-64-v3 and -v4 apart: not every compiler knows the levels by name.
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return v4 ? 2 : v3 ? 1 : 0;
  }();
  return found;
#else
  return 0;
#endif
}

}  // namespace yosida::linalg
