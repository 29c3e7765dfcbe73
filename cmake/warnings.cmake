# Warnings and sanitizers, the same for every target of the project.
function(yosida_sanitize target)
  # Of undefined behaviour, that of accesses is left to the address sanitizer and the processor: checked twice, it makes
  # up two fifths of the time of a compilation.
  target_compile_options(${target} PRIVATE -fsanitize=address,undefined
                         -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr -fno-sanitize-recover=all
                         -fno-omit-frame-pointer)
  target_link_options(${target} PUBLIC -fsanitize=address,undefined)
endfunction()

function(yosida_strict target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                         -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
  if(YOSIDA_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(YOSIDA_SANITIZE)
    yosida_sanitize(${target})
  endif()
endfunction()
