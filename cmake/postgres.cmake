# Studies in PostgreSQL. Only the header is needed to build: the library loads libpq.so.5 itself when a study lies there.
set(libpq_found FALSE)
if(YOSIDA_WITH_POSTGRESQL)
  find_path(YOSIDA_LIBPQ_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql)
  set(libpq_found ${YOSIDA_LIBPQ_INCLUDE})
  if(NOT libpq_found AND NOT YOSIDA_WITH_POSTGRESQL STREQUAL "AUTO")
    message(FATAL_ERROR "YOSIDA_WITH_POSTGRESQL is on, and libpq-fe.h is not found: install libpq-dev")
  endif()
endif()

if(libpq_found)
  message(STATUS "PostgreSQL: found, studies may lie there")
  set_source_files_properties(src/study/postgres.cpp PROPERTIES
    COMPILE_DEFINITIONS YOSIDA_WITH_LIBPQ INCLUDE_DIRECTORIES ${YOSIDA_LIBPQ_INCLUDE})
else()
  message(STATUS "PostgreSQL: not used, studies are files")
endif()
