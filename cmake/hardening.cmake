# What makes an error in memory harder to exploit, for everything that is built here. The options are those of this
# folder and not of targets: none of them reaches a project that uses the library.
include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)

# Code that can be loaded anywhere: programs by -pie, and the static library may become a part of somebody's shared one.
check_pie_supported(LANGUAGES CXX)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Calls within the library are then as direct and as often inlined as without.
add_compile_options(-fno-semantic-interposition)

foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "YOSIDA_HAS${flag}" has_flag)
  check_cxx_compiler_flag(${flag} ${has_flag})
  if(${has_flag})
    add_compile_options(${flag})
  endif()
endforeach()
# Checks of the C library's functions, which need an optimising compiler; sanitizers have checks of their own.
if(NOT YOSIDA_SANITIZE)
  add_compile_options("$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()

# All of the tables of functions are filled at the start and read-only from then on, and the stack is never executed.
foreach(word relro now noexecstack)
  check_linker_flag(CXX LINKER:-z,${word} YOSIDA_HAS_LINKER_${word})
  if(YOSIDA_HAS_LINKER_${word})
    add_link_options(LINKER:-z,${word})
  endif()
endforeach()

# The linker is given the run path that the file has when it is installed, and installing changes nothing. CMake would
# otherwise keep room for the change by colons at the end of the run path, and an empty part of it is the working folder: a
# library that lies there would be loaded. Libraries of others are found where they were when this was built.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
