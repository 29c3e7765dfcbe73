#include "linalg/instruction_set.hpp"
#include "linalg/kernels.hpp"

namespace yosida::linalg {

const Kernels& kernels() {
#ifdef YOSIDA_X86_KERNELS
  static const Kernels* const variants[] = {&kernels_baseline, &kernels_v3, &kernels_v4};
  static const Kernels& chosen = *variants[instruction_set()];
  return chosen;
#else
  return kernels_baseline;
#endif
}

const RowKernels<double>& kernels_of(const double*) { return kernels().doubles; }
const RowKernels<float>& kernels_of(const float*) { return kernels().singles; }

}  // namespace yosida::linalg
