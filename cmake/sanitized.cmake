# yosida_sanitized: the objects of the library once more, under the address and undefined-behaviour sanitizers. The unit
# tests are linked with them again and not compiled again: it is the library that must not read beyond its rows, whatever
# a test gives it. Only the folders that touch rows and files, which others reach through them: all of the library would take
# four minutes more of ./test (-DYOSIDA_SANITIZED_FOLDERS=... asks for others; folders depend only on those before them).
set(YOSIDA_SANITIZED_FOLDERS linalg data model problem response CACHE STRING "Folders whose unit tests run under sanitizers")
string(REPLACE ";" "|" folders "${YOSIDA_SANITIZED_FOLDERS}")
get_target_property(sources yosida SOURCES)
list(FILTER sources INCLUDE REGEX "/src/([^/]+\\.cpp|(${folders})/.*)$")
add_library(yosida_sanitized OBJECT EXCLUDE_FROM_ALL ${sources})
yosida_add_kernels(yosida_sanitized src/linalg/kernels.cpp kernels)
if("search" IN_LIST YOSIDA_SANITIZED_FOLDERS)
  yosida_add_kernels(yosida_sanitized src/search/matern_kernel.cpp matern52)
endif()
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
yosida_precompile(yosida_sanitized <nlohmann/json.hpp>)
