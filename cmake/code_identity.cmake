# A hash of the sources that decide results, as a script and as a part of the build.
#
# It is of names and contents alone: the same in every build folder, on every machine, with or without git. A
# change of a comment changes it too: that is safe, and whoever knows better says --accept-builds.

# Of what a result is made: everything the folders from linalg to tune hold, and what they all share.
function(yosida_deciding_sources root out)
  set(patterns)
  foreach(folder linalg data model problem response search solver tune)
    list(APPEND patterns ${root}/src/${folder}/*.cpp ${root}/src/${folder}/*.hpp ${root}/include/yosida/${folder}/*.hpp)
  endforeach()
  file(GLOB_RECURSE inside ${ARGN} ${patterns})
  file(GLOB shared ${ARGN} ${root}/src/*.cpp ${root}/src/*.hpp ${root}/include/yosida/*.hpp)
  set(${out} ${inside} ${shared} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  # cmake -DROOT=<source folder> -DOUT=<header> -P code_identity.cmake
  yosida_deciding_sources(${ROOT} sources)
  set(names)
  foreach(file ${sources})
    file(RELATIVE_PATH name ${ROOT} ${file})
    list(APPEND names ${name})
  endforeach()
  list(SORT names)
  set(lines)
  foreach(name ${names})
    file(SHA256 ${ROOT}/${name} hash)
    string(APPEND lines "${hash} ${name}\n")
  endforeach()
  string(SHA256 identity "${lines}")
  string(SUBSTRING ${identity} 0 12 identity)
  set(text "#define YOSIDA_CODE_IDENTITY \"${identity}\"\n")
  # Left as it is where nothing has changed, so that nothing is compiled again.
  set(before "")
  if(EXISTS ${OUT})
    file(READ ${OUT} before)
  endif()
  if(NOT before STREQUAL text)
    file(WRITE ${OUT} "${text}")
  endif()
else()
  # Gives the target a header code_identity.hpp, made anew when one of the sources changes.
  function(yosida_add_code_identity target)
    yosida_deciding_sources(${PROJECT_SOURCE_DIR} sources CONFIGURE_DEPENDS)
    set(folder ${PROJECT_BINARY_DIR}/code_identity)
    set(script ${PROJECT_SOURCE_DIR}/cmake/code_identity.cmake)
    add_custom_command(
      OUTPUT ${folder}/code_identity.stamp
      BYPRODUCTS ${folder}/code_identity.hpp
      COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${folder}/code_identity.hpp -P ${script}
      COMMAND ${CMAKE_COMMAND} -E touch ${folder}/code_identity.stamp
      DEPENDS ${sources} ${script}
      COMMENT "Hashing the sources that decide results"
      VERBATIM)
    add_custom_target(${target}_code_identity DEPENDS ${folder}/code_identity.stamp)
    add_dependencies(${target} ${target}_code_identity)
    set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/study/builds.cpp APPEND PROPERTY INCLUDE_DIRECTORIES ${folder})
  endfunction()
endif()
