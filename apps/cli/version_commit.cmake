# Writes the source that knows the commit, where that has changed: cmake -DSOURCE_DIR=... -DOUTPUT=... -P version_commit.cmake
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --show-prefix OUTPUT_VARIABLE inside ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --tags OUTPUT_VARIABLE commit ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
# Sources that lie in another project's checkout have that project's commit, which says nothing.
if(NOT status EQUAL 0 OR NOT inside STREQUAL "" OR NOT commit MATCHES "^[A-Za-z0-9._/+-]+$")
  set(commit unknown)
endif()
set(text "// Written by apps/cli/version_commit.cmake.
#include \"cli/version_text.h\"

namespace tern::cli {

const char* built_commit() { return \"${commit}\"; }

}  // namespace tern::cli
")
set(before)
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
