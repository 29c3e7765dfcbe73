# Installs a build tree, moves the installation away from where it was installed to, runs the command line from there, builds
# a client against the library with find_package and, where PKG_CONFIG is given, with pkg-config, and runs the clients.
#   cmake -DBUILD=… -DCLIENT=… -DWORK=… -DCONFIG=… -DGENERATOR=… -DCOMPILER=… [-DPKG_CONFIG=…]
#         [-DSHARED_FROM=… -DOBJECTS=…] -P client_test.cmake
# With SHARED_FROM, the source tree, BUILD is made first: the library as a shared one of the objects that the file OBJECTS
# names. It exports its public headers and no more.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(run_client program)
  run(${program})
  message("${output}")
  # The disturbance of the client's data is uniform in ±½: its mean square is 1/12. Without a fit, L_V is near 2.
  if(NOT output MATCHES "^lambda -?[0-9]+\\.[0-9]+ validation ([0-9.]+)\n$" OR CMAKE_MATCH_1 GREATER 0.2)
    message(FATAL_ERROR "the client did not print a λ and a validation loss of about 0.1")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK}/first ${WORK}/moved ${WORK}/client)
if(SHARED_FROM)
  run(${CMAKE_COMMAND} -S ${SHARED_FROM} -B ${BUILD} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
      -DCMAKE_BUILD_TYPE=${CONFIG} -DBUILD_SHARED_LIBS=ON -DYOSIDA_OBJECTS=${OBJECTS} -DYOSIDA_BUILD_TOOLS=OFF
      -DYOSIDA_BUILD_TESTS=OFF -DYOSIDA_BUILD_BENCH=OFF -DYOSIDA_BUILD_PYTHON=OFF)
  run(${CMAKE_COMMAND} --build ${BUILD} --parallel 2)
  run(nm --dynamic --defined-only --demangle ${BUILD}/libyosida.so)
  foreach(public "yosida::tune(" "yosida::version()" "typeinfo for yosida::InputError" "yosida::search::minimize(")
    string(FIND "${output}" " ${public}" found)
    if(found EQUAL -1)
      message(FATAL_ERROR "libyosida.so does not export ${public}")
    endif()
  endforeach()
  foreach(private "yosida::CountedProblem" "yosida::newton" "yosida::cholesky_solve" "yosida::linalg::kernels" "fmt::")
    string(FIND "${output}" " ${private}" found)
    if(NOT found EQUAL -1)
      message(FATAL_ERROR "libyosida.so exports ${private}, which no public header declares")
    endif()
  endforeach()
endif()

run(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/moved)
if(EXISTS ${WORK}/moved/bin/yosida)
  run(${WORK}/moved/bin/yosida --version)
  # Where man and the shells look; what lies there is what the program says of itself.
  foreach(file man/man1/yosida.1 man/man1/yosida-tune.1 bash-completion/completions/yosida zsh/site-functions/_yosida
          fish/vendor_completions.d/yosida.fish)
    if(NOT EXISTS ${WORK}/moved/share/${file})
      message(FATAL_ERROR "share/${file} is not installed")
    endif()
  endforeach()
  run(bash -n ${WORK}/moved/share/bash-completion/completions/yosida)
  run(bash -c "source '${WORK}/moved/share/bash-completion/completions/yosida'
compopt() {
:
}
COMP_WORDS=(yosida tune --tar)
COMP_CWORD=2
$(complete -p yosida | sed 's/.*-F \\([^ ]*\\).*/\\1/')
echo \"\${COMPREPLY[*]}\"")
  if(NOT output MATCHES "^--target")
    message(FATAL_ERROR "the installed completion of --tar is ${output}")
  endif()
  run(${WORK}/moved/bin/yosida data info gtsrb)
  if(output MATCHES "cannot be loaded")
    message(FATAL_ERROR "${output}")
  endif()
endif()

run(${CMAKE_COMMAND} -S ${CLIENT} -B ${WORK}/client -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_PREFIX_PATH=${WORK}/moved)
run(${CMAKE_COMMAND} --build ${WORK}/client)
run_client(${WORK}/client/client)

if(PKG_CONFIG)
  file(GLOB_RECURSE description ${WORK}/moved/yosida.pc)
  get_filename_component(folder ${description} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  run(${PKG_CONFIG} --cflags --libs yosida)
  separate_arguments(flags UNIX_COMMAND "${output}")
  # The library is built for any machine, this client for this one.
  run(${COMPILER} -std=c++20 -O1 -march=native ${CLIENT}/main.cpp -o ${WORK}/client/by_pkg_config ${flags})
  run_client(${WORK}/client/by_pkg_config)
endif()
