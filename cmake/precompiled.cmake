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
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # so that a compiler cache may look at what was included
  endif()
endfunction()
