#include "search/matern.hpp"

#include "linalg/instruction_set.hpp"

namespace yosida::search {

void matern52(const double* point, const double* others, long stride, long dimensions, long count,
              const double* inverse_lengths, double amplitude, double* out) {
#ifdef YOSIDA_X86_KERNELS
  static Matern52* const variants[] = {matern52_baseline, matern52_v3, matern52_v4};
  static Matern52* const chosen = variants[linalg::instruction_set()];
#else
  Matern52* const chosen = matern52_baseline;
#endif
  chosen(point, others, stride, dimensions, count, inverse_lengths, amplitude, out);
}

}  // namespace yosida::search
