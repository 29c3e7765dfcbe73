# The report's page: our own files, and d3 for its charts. They become a part of the library, so that reports need no
# network and no file beside them.
include(cmake/embed.cmake)
find_file(YOSIDA_D3 d3.min.js
  PATHS /usr/share/nodejs/d3/dist /usr/share/javascript/d3 NO_DEFAULT_PATH
  DOC "d3.min.js, version 5")
if(NOT EXISTS "${YOSIDA_D3}")
  message(FATAL_ERROR "d3.min.js is not there: the report's charts are made with it. Install Debian's package node-d3, or "
                      "point to a copy of version 5: -DYOSIDA_D3=<path of d3.min.js>")
endif()
# Later versions lack functions that the charts call, which would show in the browser alone.
file(READ ${YOSIDA_D3} first_words LIMIT 60)
if(NOT first_words MATCHES "d3js\\.org v5\\.")
  message(FATAL_ERROR "${YOSIDA_D3} is not d3 version 5 (it begins with: ${first_words})")
endif()

function(yosida_add_report_page target)
  set(page src/report/page)
  yosida_embed(${target} d3_script ${YOSIDA_D3})
  yosida_embed(${target} page_template ${page}/page.html)
  yosida_embed(${target} page_style ${page}/page.css ${page}/charts.css ${page}/print.css)
  # In the order in which they use each other; main.js starts the page.
  set(scripts format elements palette choices save frame marks legend table convergence response stability results summary
              made problem live main)
  list(TRANSFORM scripts PREPEND ${page}/)
  list(TRANSFORM scripts APPEND .js)
  yosida_embed(${target} page_script ${scripts})
  set_property(TARGET ${target} PROPERTY YOSIDA_PAGE_SCRIPTS ${scripts})
endfunction()
