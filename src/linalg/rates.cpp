#include "linalg/rates.hpp"

#include <string>

#include "yosida/linalg/blas_kernels.hpp"

namespace yosida {

Rates rates() {
  // About what two cores reach with 100 to 800 columns; `yosida tune --explain` shows how near it is.
  constexpr Rates kAvx512 = {.products = 9e10, .factors = 2e10, .vectors = 1e10, .bytes = 2e10};
  constexpr Rates kAvx2 = {.products = 6e10, .factors = 1.6e10, .vectors = 8e9, .bytes = 2e10};
  constexpr Rates kPlain = {.products = 2.5e10, .factors = 1e10, .vectors = 5e9, .bytes = 2e10};
  static const Rates kOwn = [&] {
    const std::string kernels = blas_kernels();
    if (kernels == "SkylakeX" || kernels == "Cooperlake" || kernels == "SapphireRapids") return kAvx512;
    if (kernels == "Haswell" || kernels == "Zen") return kAvx2;
    return kPlain;
  }();
  return kOwn;
}

}  // namespace yosida
