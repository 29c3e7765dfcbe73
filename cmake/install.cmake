include(CMakePackageConfigHelpers)
install(TARGETS yosida EXPORT yosidaTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
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
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET yosida_cli)
  # A shared library is found from the program's place, wherever the two are moved to; in the build tree it is beside it.
  set_target_properties(yosida_cli PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS yosida_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
