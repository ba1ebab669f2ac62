# The commit is in a source of its own, written anew where git's log of HEAD has grown: a commit costs one small file and a
# link. Outside a checkout it is "unknown".
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
                OUTPUT_VARIABLE tern_git_log ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS "${tern_git_log}")
  set(tern_git_log)
endif()
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/version_commit.cc
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/version_commit.cc
          -P ${CMAKE_CURRENT_SOURCE_DIR}/version_commit.cmake
  DEPENDS version_commit.cmake ${tern_git_log} VERBATIM)
set_property(SOURCE ${CMAKE_CURRENT_BINARY_DIR}/version_commit.cc PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)

# Man pages and completions are what the built program says of itself, in an emulator if need be. They carry the day of the
# newest release that CHANGELOG.md names. Windows has neither.
if(NOT CMAKE_CROSSCOMPILING OR (CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_CROSSCOMPILING_EMULATOR))
  file(STRINGS ${PROJECT_SOURCE_DIR}/CHANGELOG.md tern_releases REGEX "^## .*[0-9]+-[0-9]+-[0-9]+$")
  string(REGEX MATCH "[0-9]+-[0-9]+-[0-9]+" tern_release_day "${tern_releases}")
  set(tern_share ${PROJECT_BINARY_DIR}/share)
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/manual.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${tern_share}/man/man1  # what a former build made may have other names
    COMMAND tern manual ${tern_share} --date "${tern_release_day}"
    COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_CURRENT_BINARY_DIR}/manual.stamp
    DEPENDS tern VERBATIM)
  add_custom_target(tern_manual ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/manual.stamp)
  if(TERN_INSTALL)  # optional: who builds the library alone has no program that could write them
    install(DIRECTORY ${tern_share}/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
    install(DIRECTORY ${tern_share}/bash-completion ${tern_share}/zsh ${tern_share}/fish
            DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL)
  endif()
endif()
