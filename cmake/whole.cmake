# yosida_whole: the library with all that it keeps to itself, for tests and benchmarks. A static library hides nothing from
# those that link it; of a shared one the same objects are put into a static one.
if(NOT BUILD_SHARED_LIBS)
  add_library(yosida_whole ALIAS yosida)
elseif(YOSIDA_BUILD_TESTS OR YOSIDA_BUILD_BENCH)
  get_target_property(kernels yosida YOSIDA_KERNEL_OBJECTS)
  add_library(yosida_whole STATIC $<TARGET_OBJECTS:yosida> ${kernels})
  set_target_properties(yosida_whole PROPERTIES LINKER_LANGUAGE CXX)
  target_compile_features(yosida_whole PUBLIC cxx_std_20)
  foreach(property COMPILE_DEFINITIONS INCLUDE_DIRECTORIES)
    set_property(TARGET yosida_whole PROPERTY INTERFACE_${property} $<TARGET_PROPERTY:yosida,INTERFACE_${property}>)
  endforeach()
  target_link_libraries(yosida_whole INTERFACE $<TARGET_PROPERTY:yosida,LINK_LIBRARIES>)
endif()
