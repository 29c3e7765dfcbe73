#include "yosida/linalg/blas_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

// OpenBLAS has these beside its interface. They are weak here: a build of it for one processor, or another
// BLAS, has none.
extern "C" {
[[gnu::weak]] char* openblas_get_corename();
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace yosida {
namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";

#if defined(__x86_64__)
/// Kernels that use no AVX: right where the processor has none, a fallback where it has.
bool is_without_avx(std::string_view name) {
  constexpr std::array<std::string_view, 15> kNames = {
      "Katmai",  "Coppermine", "Northwood", "Prescott",     "Banias",    "Core2",  "Penryn", "Dunnington",
      "Nehalem", "Athlon",     "Opteron",   "Opteron_SSE3", "Barcelona", "Bobcat", "Atom"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// The newest kernels of this processor that OpenBLAS has had for long; null where it has no AVX2.
const char* kernels_of_processor() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx512 ? "SkylakeX" : avx2 ? "Haswell" : nullptr;
}
#else
bool is_without_avx(std::string_view) { return false; }
const char* kernels_of_processor() { return nullptr; }
#endif

}  // namespace

std::string blas_kernels() { return openblas_get_corename != nullptr ? openblas_get_corename() : ""; }

bool use_fast_blas_kernels() {
  const char* const wanted = kernels_of_processor();
  if (wanted == nullptr || std::getenv(kVariable) != nullptr || !is_without_avx(blas_kernels()) ||
      gotoblas_dynamic_init == nullptr || gotoblas_dynamic_quit == nullptr)
    return false;
  // The choice is made once, at load time, by the variable where there is one: it is made again here.
  setenv(kVariable, wanted, 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(kVariable);
  return true;
}

}  // namespace yosida
