# Installs the build tree, moves the installation away from where it was installed to, runs the
# command line from there, builds a client against the library with find_package and runs the client.
#   cmake -DBUILD=… -DCLIENT=… -DWORK=… -DCONFIG=… -DGENERATOR=… -DCOMPILER=… -P find_package.cmake
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/moved)
if(EXISTS ${WORK}/moved/bin/yosida)
  run(${WORK}/moved/bin/yosida --version)
  run(${WORK}/moved/bin/yosida data info gtsrb)
  if(output MATCHES "cannot be loaded")
    message(FATAL_ERROR "${output}")
  endif()
endif()

run(${CMAKE_COMMAND} -S ${CLIENT} -B ${WORK}/client -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${WORK}/moved)
run(${CMAKE_COMMAND} --build ${WORK}/client)
run(${WORK}/client/client)
message("${output}")
# The disturbance of the client's data is uniform in ±½: its mean square is 1/12. Without a fit, L_V is near 2.
if(NOT output MATCHES "^lambda -?[0-9]+\\.[0-9]+ validation ([0-9.]+)\n$" OR CMAKE_MATCH_1 GREATER 0.2)
  message(FATAL_ERROR "the client did not print a λ and a validation loss of about 0.1")
endif()
