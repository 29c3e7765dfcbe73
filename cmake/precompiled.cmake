# Headers of others that nearly every file includes are parsed once per target: they are half of the time of compiling all of this.
#   yosida_precompile(<target> <header>...)
option(YOSIDA_PRECOMPILE "Precompile headers of others" ${PROJECT_IS_TOP_LEVEL})
function(yosida_precompile target)
  if(NOT YOSIDA_PRECOMPILE)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <Eigen/Dense> <algorithm> <cmath> <functional> <map> <memory> <optional>
                            <string> <vector> <fmt/format.h> ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # The first lets a compiler cache look at what was included. GCC 12 no longer knows the others' headers as the system's when
    # it inlines strings from them, and then warns of what is not so.
    target_compile_options(${target} PRIVATE -fpch-preprocess -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                           -Wno-stringop-overread)
  endif()
endfunction()
