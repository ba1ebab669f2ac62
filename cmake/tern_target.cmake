# How a target is compiled. HOT: for speed. COLD: what waits for people, or runs once for a model, and would be half of
# the compile time. TEST: the tests' own code; what they test is built as it is used. These two are built without
# UndefinedBehaviorSanitizer, which compiles some of them for minutes.
#
# The standard library's headers are most of what a file of ours includes, so they are read once for all of a kind. Files
# still include what they use: clang-tidy reads them without.
if(NOT EMSCRIPTEN)  # there, everything but the kernels is compiled for size
  set(tern_cold_options $<$<CONFIG:Release>:-O1>)
endif()
if(TERN_SANITIZE MATCHES "undefined")
  set(tern_cold_sanitizers -fno-sanitize=undefined)
endif()
function(tern_compile target kind)
  if(NOT kind STREQUAL "HOT")
    target_compile_options(${target} PRIVATE ${tern_cold_options} ${tern_cold_sanitizers})
  endif()
  if(NOT EMSCRIPTEN)
    target_precompile_headers(${target} REUSE_FROM tern_precompiled_${kind})
  endif()
endfunction()

function(tern_precompile kind)
  set(target tern_precompiled_${kind})
  set(source ${PROJECT_BINARY_DIR}/precompiled/${kind}.cc)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")
  endif()
  add_library(${target} OBJECT ${source})
  target_link_libraries(${target} PRIVATE Threads::Threads)
  target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <atomic> <bit> <chrono> <cmath> <cstdint> <cstring> <expected> <filesystem> <format> <fstream>
      <functional> <limits> <map> <memory> <mutex> <optional> <ranges> <span> <string> <string_view> <thread> <utility>
      <variant> <vector>)
  if(NOT kind STREQUAL "HOT")
    target_compile_options(${target} PRIVATE ${tern_cold_options})
  endif()
endfunction()
if(NOT EMSCRIPTEN)
  tern_precompile(HOT)
  tern_precompile(COLD)
  if(TERN_TESTS)
    tern_precompile(TEST)
    target_link_libraries(tern_precompiled_TEST PRIVATE GTest::gtest)
    target_precompile_headers(tern_precompiled_TEST PRIVATE <gtest/gtest.h>)
  endif()
endif()

# tern_library(NAME [COLD] SOURCES... LINK targets...): the library of one folder. `#include` paths start at src/ and
# include/.
function(tern_library name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;LINK;LINK_PRIVATE" ${ARGN})
  set(kind HOT)
  if(ARG_COLD)
    set(kind COLD)
  endif()
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_LINK_PRIVATE})
    tern_compile(${name} ${kind})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} INTERFACE ${ARG_LINK})
  endif()
endfunction()

# tern_web_library(TARGET FILE): functions in JavaScript that the target's C++ calls, linked into every program that links
# it.
function(tern_web_library target file)
  set(path ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  target_link_options(${target} INTERFACE "SHELL:--js-library ${path}")
  set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_DEPENDS ${path})
endfunction()

# tern_test(NAME SOURCES... LINK targets...): one GoogleTest program, one CTest entry per test case.
# TERN_SOURCE_DIR is the checkout, for fixtures and the default model; TERN_BINARY_DIR the build folder, for programs.
# LABELS threads: the program runs under ThreadSanitizer too (target thread_tests).
function(tern_test name)
  if(NOT TERN_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE TERN_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TERN_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(EMSCRIPTEN)  # run by Node, on the machine's own files
    target_link_options(${name} PRIVATE -sNODERAWFS -sEXIT_RUNTIME)
  endif()
  tern_compile(${name} TEST)
  if("threads" IN_LIST ARG_LABELS)
    if(NOT TARGET thread_tests)
      add_custom_target(thread_tests)
    endif()
    add_dependencies(thread_tests ${name})
  endif()
  set(environment)
  if(TERN_SANITIZE MATCHES "address")
    # Programs that a test starts inherit it. Silent, for tests that read all of standard error.
    set(environment ENVIRONMENT
        "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0")
  endif()
  set(processors)
  if(TERN_SANITIZE MATCHES "thread" AND "threads" IN_LIST ARG_LABELS)
    # Ten times as slow; and beside another such test, threads that wait for each other take several times as long again.
    math(EXPR ARG_TIMEOUT "3 * ${ARG_TIMEOUT}")
    set(processors PROCESSORS 2)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
                       PROPERTIES TIMEOUT ${ARG_TIMEOUT} ${environment} ${processors} LABELS "${ARG_LABELS}")
endfunction()
