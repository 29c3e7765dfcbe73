# One test of ctest for each suite of a GoogleTest program. A process for each single test, as gtest_discover_tests has it, would
# spend more time on starting processes than on testing. A suite of which a test was skipped is shown as skipped; the pattern
# says that nothing follows the list of the skipped, where GoogleTest names those that failed.
#   yosida_test_suites(<program> <prefix> <filter>)
# As a script it writes the tests of a built program: cmake -DPROGRAM=… -DPREFIX=… -DFILTER=… -DOUT=… -P suites.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=${FILTER} OUTPUT_VARIABLE list RESULT_VARIABLE status)
  string(REGEX MATCHALL "\n[A-Za-z0-9_/]+\\." suites "\n${list}")
  if(NOT status EQUAL 0 OR NOT suites)
    message(FATAL_ERROR "${PROGRAM} --gtest_list_tests: ${status}, no suite\n${list}")
  endif()
  set(script "")
  foreach(suite ${suites})
    string(REGEX MATCH "[A-Za-z0-9_/]+" suite ${suite})
    string(APPEND script "add_test(\"${PREFIX}${suite}\" \"${PROGRAM}\" \"--gtest_filter=${suite}.*\")\n"
      "set_tests_properties(\"${PREFIX}${suite}\" PROPERTIES TIMEOUT 600 SKIP_REGULAR_EXPRESSION [=[\\[  SKIPPED \\] [^\n]+\n*$]=])\n")
  endforeach()
  file(WRITE ${OUT} "${script}")
  return()
endif()

function(yosida_test_suites program prefix filter)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${program}_suites.cmake)
  add_custom_command(TARGET ${program} POST_BUILD BYPRODUCTS ${out} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DPREFIX=${prefix} -DFILTER=${filter} -DOUT=${out}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${program}_include.cmake
    "if(EXISTS \"${out}\")\n  include(\"${out}\")\nelse()\n  add_test(${prefix}not_built ${program})\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${program}_include.cmake)
endfunction()
