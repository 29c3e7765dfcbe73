include(CMakePackageConfigHelpers)
install(TARGETS yosida EXPORT yosidaTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET yosida_mpi)
  install(TARGETS yosida_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET yosida_hog)
  install(TARGETS yosida_hog LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/yosida DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT yosidaTargets NAMESPACE yosida:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/yosida)
configure_package_config_file(cmake/yosidaConfig.cmake.in ${PROJECT_BINARY_DIR}/yosidaConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/yosida)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/yosidaConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/yosidaConfig.cmake ${PROJECT_BINARY_DIR}/yosidaConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/openblas.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/yosida)

# For builds without CMake. Paths are told from the place of the file, so that an installation can be moved.
file(RELATIVE_PATH YOSIDA_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(YOSIDA_PC_REQUIRES "eigen3 >= 3.4")
set(YOSIDA_PC_LIBS "-L\${libdir} -Wl,-rpath,\${libdir} -lyosida")
if(NOT BUILD_SHARED_LIBS)
  string(APPEND YOSIDA_PC_REQUIRES ", fmt, zlib, liblzma, sqlite3, libcrypto, openblas")
  string(APPEND YOSIDA_PC_LIBS " ${OpenMP_CXX_FLAGS} -l${CMAKE_DL_LIBS}")
endif()
configure_file(cmake/yosida.pc.in yosida.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/yosida.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET yosida_cli)
  # A shared library is found from the program's place, wherever the two are moved to; in the build tree it is beside it.
  set_target_properties(yosida_cli PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS yosida_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # Man pages and completions, laid out as they are found by man and by shells.
  install(DIRECTORY ${PROJECT_BINARY_DIR}/tools/yosida/help/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
