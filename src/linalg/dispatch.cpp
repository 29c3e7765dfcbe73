#include "linalg/kernels.hpp"

namespace yosida::linalg {

const Kernels& kernels() {
#ifdef YOSIDA_X86_KERNELS
  static const Kernels& chosen = []() -> const Kernels& {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) return kernels_v4;
    if (__builtin_cpu_supports("x86-64-v3")) return kernels_v3;
    return kernels_baseline;
  }();
  return chosen;
#else
  return kernels_baseline;
#endif
}

}  // namespace yosida::linalg
