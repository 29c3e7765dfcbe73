# yosida_sanitized: the objects of the library once more, under the address and undefined-behaviour sanitizers. The unit
# tests are linked with them again and not compiled again: it is the library that must not read beyond its rows, whatever
# a test gives it.
get_target_property(sources yosida SOURCES)
list(FILTER sources EXCLUDE REGEX "TARGET_OBJECTS")
add_library(yosida_sanitized OBJECT EXCLUDE_FROM_ALL ${sources})
yosida_add_kernels(yosida_sanitized src/linalg/kernels.cpp kernels)
yosida_add_kernels(yosida_sanitized src/search/matern_kernel.cpp matern52)
foreach(property COMPILE_DEFINITIONS INCLUDE_DIRECTORIES LINK_LIBRARIES)
  set_property(TARGET yosida_sanitized PROPERTY ${property} $<TARGET_PROPERTY:yosida,${property}>)
endforeach()
target_compile_features(yosida_sanitized PUBLIC cxx_std_20)
yosida_strict(yosida_sanitized)
get_target_property(kernels yosida_sanitized YOSIDA_KERNEL_TARGETS)
foreach(target yosida_sanitized ${kernels})
  yosida_sanitize(${target})
  target_compile_options(${target} PRIVATE -O1 -g1 -UNDEBUG -U_FORTIFY_SOURCE)
endforeach()
# Parsed once: a third of the time. A compiler cache does not keep what is made with it, and is worth more elsewhere.
target_precompile_headers(yosida_sanitized PRIVATE <Eigen/Core> <algorithm> <cmath> <functional> <map> <memory> <optional>
                          <string> <vector> <fmt/format.h> <nlohmann/json.hpp>)
