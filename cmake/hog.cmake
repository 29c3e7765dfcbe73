# Features of pictures by OpenCV, as a module that the library loads when they are asked for: OpenCV and what it draws
# in would add 10 ms to every start. Debian's packages of single parts of OpenCV hold no CMake configuration, so its
# files are looked for by name.
set(opencv_found FALSE)
if(YOSIDA_WITH_OPENCV)
  find_path(YOSIDA_OPENCV_INCLUDE opencv2/objdetect.hpp PATH_SUFFIXES opencv4)
  set(opencv_found ${YOSIDA_OPENCV_INCLUDE})
  set(opencv_libraries "")
  foreach(part objdetect imgproc core)
    find_library(YOSIDA_OPENCV_${part} opencv_${part})
    list(APPEND opencv_libraries ${YOSIDA_OPENCV_${part}})
    if(NOT YOSIDA_OPENCV_${part})
      set(opencv_found FALSE)
    endif()
  endforeach()
  if(NOT opencv_found AND NOT YOSIDA_WITH_OPENCV STREQUAL "AUTO")
    message(FATAL_ERROR "YOSIDA_WITH_OPENCV is on, and OpenCV is not found: install libopencv-objdetect-dev")
  endif()
endif()

if(opencv_found)
  message(STATUS "OpenCV: found, the features of gtsrb can be made")
  add_library(yosida_hog MODULE src/data/hog_opencv.cpp)
  target_compile_features(yosida_hog PRIVATE cxx_std_20)
  target_include_directories(yosida_hog PRIVATE src)
  target_include_directories(yosida_hog SYSTEM PRIVATE ${YOSIDA_OPENCV_INCLUDE})
  target_link_libraries(yosida_hog PRIVATE ${opencv_libraries})
  set_target_properties(yosida_hog PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  yosida_strict(yosida_hog)
  add_dependencies(yosida yosida_hog)
  set_source_files_properties(src/data/hog.cpp PROPERTIES
    COMPILE_DEFINITIONS YOSIDA_HOG_MODULE="$<TARGET_FILE_NAME:yosida_hog>")
  # The module is found by run paths: beside a shared library, and from a client of an installed static one. INSTALL_RPATH
  # of the tool leads to the same folder.
  set_target_properties(yosida PROPERTIES INSTALL_RPATH "$ORIGIN")
  target_link_options(yosida INTERFACE
    "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}>")
else()
  message(STATUS "OpenCV: not used, the features of gtsrb can be read where they were kept and not be made")
endif()
