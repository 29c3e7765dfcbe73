# Files as parts of the program.
#   yosida_embed(<target> <name> <file>...)
# makes, at build time, the files one after the other into
#   namespace yosida::embedded { extern const std::string_view <name>; }
# Every byte is written as \xNN in one literal: nothing in a file can end it, and 250 KB compile in a fraction of a second.
# (An .incbin would be quicker still, but ccache does not look into it.)

if(CMAKE_SCRIPT_MODE_FILE)
  set(bytes "")
  foreach(file IN LISTS FILES)
    file(READ ${file} content HEX)
    string(APPEND bytes ${content})
  endforeach()
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  file(WRITE ${OUTPUT} "#include <string_view>\n"
    "namespace yosida::embedded {\n"
    "extern const std::string_view ${NAME};\n"
    "constexpr char ${NAME}_bytes[] = \"${bytes}\";\n"
    "constinit const std::string_view ${NAME}(${NAME}_bytes, sizeof ${NAME}_bytes - 1);\n"
    "}  // namespace yosida::embedded\n")
  return()
endif()

set(YOSIDA_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(yosida_embed target name)
  set(output ${PROJECT_BINARY_DIR}/embedded/${name}.cpp)
  set(files "")
  foreach(file IN LISTS ARGN)
    get_filename_component(file ${file} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    list(APPEND files ${file})
  endforeach()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} "-DFILES=${files}" -DOUTPUT=${output} -P ${YOSIDA_EMBED_SCRIPT}
    DEPENDS ${files} ${YOSIDA_EMBED_SCRIPT}
    COMMENT "Embedding ${name}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
