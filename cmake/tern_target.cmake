# How a target is compiled. Everything but KERNELS in one go, file after file (a unity build): the standard library's
# headers, most of what a file includes, are read once for all of them. Files still include what they use: clang-tidy reads
# each alone. So do builds with TERN_UNITY=OFF, where an edited file compiles sooner.
#   KERNELS  for speed, and each file alone: what stands beside a kernel must not change its code
#   HOT      for speed
#   ONCE     what runs once for a model or a file
#   COLD     what waits for people or for a driver
#   TEST     the tests' own code, not optimized; what they test is built as it is used
# COLD and TEST are built without UndefinedBehaviorSanitizer, which compiles some of them for minutes.
if(NOT EMSCRIPTEN)  # there, everything but the kernels is compiled for size
  set(tern_options_HOT $<$<CONFIG:Release>:-O3>)
  # GCC's -Og takes two thirds of the time of -O1. Clang has one level for both.
  set(tern_options_ONCE $<$<CONFIG:Release>:-Og>)
  set(tern_options_COLD ${tern_options_ONCE})
  set(tern_options_TEST $<$<CONFIG:Release>:-O0>)
endif()
if(TERN_SANITIZE)
  list(APPEND tern_options_TEST -O0)
endif()
if(TERN_SANITIZE MATCHES "undefined")
  list(APPEND tern_options_COLD -fno-sanitize=undefined)
  list(APPEND tern_options_TEST -fno-sanitize=undefined)
endif()
function(tern_compile target kind)
  target_compile_options(${target} PRIVATE ${tern_options_${kind}})
  if(tern_hardening AND NOT kind MATCHES "KERNELS|TEST")
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:${tern_hardening}>")
  endif()
  if(TERN_UNITY AND NOT kind STREQUAL "KERNELS")
    # GCC takes the files of a unit for headers, in which anonymous namespaces would be a mistake.
    # And it collects garbage too often in one so large: a tenth of the time, for a quarter less memory.
    target_compile_options(${target} PRIVATE
      "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;--param=ggc-min-heapsize=524288;--param=ggc-min-expand=100>")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0 UNITY_BUILD_RELOCATABLE ON)
  endif()
endfunction()

# tern_unit(TARGET NAME SOURCES...): these of the target's sources as one file, ${tern_unit}.
function(tern_unit target name)
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}.cc)
  set(includes "")
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    string(APPEND includes "#include \"${path}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${unit} CONTENT "${includes}" @ONLY)
  target_sources(${target} PRIVATE ${unit})
  set_property(SOURCE ${ARGN} PROPERTY HEADER_FILE_ONLY ON)  # of several targets, perhaps
  set(tern_unit ${unit} PARENT_SCOPE)
endfunction()

# tern_compile_hot(TARGET SOURCES...): for speed, in a unit beside the target's own.
function(tern_compile_hot target)
  set(sources ${ARGN})
  if(TERN_UNITY)
    tern_unit(${target} hot ${sources})
    set(sources ${tern_unit})
  endif()
  # Options of their own keep files out of the target's unit.
  set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS ${tern_options_HOT})
endfunction()

# tern_library(NAME [KERNELS|ONCE|COLD] SOURCES... [HOT sources...] LINK targets...): the library of one folder; those of
# its sources that are named HOT as well are compiled so. `#include` paths start at src/ and
# include/.
function(tern_library name)
  cmake_parse_arguments(ARG "KERNELS;ONCE;COLD" "" "SOURCES;HOT;LINK;LINK_PRIVATE" ${ARGN})
  set(kind HOT)
  foreach(other KERNELS ONCE COLD)
    if(ARG_${other})
      set(kind ${other})
    endif()
  endforeach()
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_LINK_PRIVATE})
    tern_compile(${name} ${kind})
    if(ARG_HOT AND tern_options_HOT)
      tern_compile_hot(${name} ${ARG_HOT})
    endif()
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

if(TERN_SANITIZE MATCHES "address")
  find_program(TERN_SYMBOLIZER NAMES llvm-symbolizer-21 llvm-symbolizer REQUIRED)
  file(REAL_PATH "${TERN_SYMBOLIZER}" TERN_SYMBOLIZER)  # suppressions name functions; a path through links is not taken
endif()

set(TERN_NAMES_DRIVER_CPU OFF)
if(TERN_WEBGPU AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(TERN_NAMES_DRIVER_CPU ON)  # tests/support/driver_cpu.cc
endif()

# Where the checkout and its build are, for tests, fuzzers and benchmarks.
add_library(tern_checkout STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/checkout.cc)
target_include_directories(tern_checkout PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_compile_definitions(tern_checkout PRIVATE TERN_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TERN_BINARY_DIR="${PROJECT_BINARY_DIR}")

# For tests that do less under a sanitizer, where they would take minutes.
function(tern_tell_sanitized name)
  if(TERN_SANITIZE AND TARGET ${name})
    target_compile_definitions(${name} PRIVATE TERN_SANITIZED)
  endif()
endfunction()

# tern_test(NAME SOURCES... LINK targets...): one GoogleTest program, one CTest entry per test case.
# It finds fixtures, the default model and programs by support/checkout.h.
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
  if(NOT TARGET tern_test_main)
    add_library(tern_test_main STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/test_main.cc)
    target_link_libraries(tern_test_main PUBLIC GTest::gtest tern_checkout)
    if(TERN_NAMES_DRIVER_CPU)
      # Nothing in the program calls it: the driver does, which is loaded later.
      target_sources(tern_test_main PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/driver_cpu.cc)
      set(function _ZN4llvm3sys14getHostCPUNameEv)
      target_link_options(tern_test_main INTERFACE LINKER:--undefined=${function},--export-dynamic-symbol=${function})
    endif()
    tern_compile(tern_test_main TEST)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} tern_test_main GTest::gtest)
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
        "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0:external_symbolizer_path=${TERN_SYMBOLIZER}")
  endif()
  set(processors)
  if(TERN_SANITIZE MATCHES "thread" AND "threads" IN_LIST ARG_LABELS)
    # Ten times as slow; and beside another such test, threads that wait for each other take several times as long again.
    math(EXPR ARG_TIMEOUT "3 * ${ARG_TIMEOUT}")
    set(processors PROCESSORS 2)
  endif()
  tern_scaled(ARG_TIMEOUT ${ARG_TIMEOUT})
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
                       PROPERTIES TIMEOUT ${ARG_TIMEOUT} ${environment} ${processors} LABELS "${ARG_LABELS}")
endfunction()
