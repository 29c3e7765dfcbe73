#include "model/exponentials.hpp"

#include "linalg/instruction_set.hpp"

namespace yosida {

void exponentials(const double* x, long count, double* out) {
#ifdef YOSIDA_X86_KERNELS
  static Exponentials* const variants[] = {exponentials_baseline, exponentials_v3, exponentials_v4};
  static Exponentials* const chosen = variants[linalg::instruction_set()];
#else
  Exponentials* const chosen = exponentials_baseline;
#endif
  chosen(x, count, out);
}

}  // namespace yosida
