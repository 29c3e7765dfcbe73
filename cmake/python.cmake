# The Python package, where it is asked for or can be built.
if(YOSIDA_BUILD_PYTHON STREQUAL AUTO AND NOT PROJECT_IS_TOP_LEVEL OR NOT YOSIDA_BUILD_PYTHON OR YOSIDA_SANITIZE)
  return()
endif()
# The system's Python is the one that has the numpy of packages.txt; another may stand before it on PATH.
if(NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3)
endif()
set(required)
if(NOT YOSIDA_BUILD_PYTHON STREQUAL AUTO)
  set(required REQUIRED)
endif()
find_package(Python 3.9 COMPONENTS Interpreter Development.Module ${required} QUIET)
if(Python_FOUND)
  set(PYBIND11_NOPYTHON ON)  # it looks for Python in its own way, and finds another one
  find_package(pybind11 2.10 CONFIG ${required} QUIET)
endif()
if(Python_FOUND AND pybind11_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'), end='')"
                  OUTPUT_VARIABLE YOSIDA_PYTHON_SUFFIX COMMAND_ERROR_IS_FATAL ANY)
  add_subdirectory(python)
else()
  message(STATUS "The Python package is left out: it needs Python's headers and pybind11")
endif()
