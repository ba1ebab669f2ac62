# Compiler settings that hold for every target.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14
   OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 18)
  message(FATAL_ERROR "Tern needs GCC 14 or Clang 18, found ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}. "
                      "Run ./setup, or name a newer compiler with CXX=...")
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)  # a static library does not wait for those that it needs
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# -ffp-contract=off: a*b+c rounds the same everywhere unless a kernel asks for a fused multiply-add by name.
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wno-psabi -ffp-contract=off)
if(WIN32)
  # Names of Windows 10, and none of those that only old programs use.
  add_compile_definitions(_WIN32_WINNT=0x0A00 NOMINMAX WIN32_LEAN_AND_MEAN)
  # Windows aligns the stack to 16 bytes, and GCC stores vectors of 32 there as if it were aligned to them.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wa,-muse-unaligned-vector-move)
  endif()
  set(tern_system_libraries synchronization ws2_32)
endif()
if(NOT EMSCRIPTEN AND NOT WIN32)
  # The same objects make the static library, the shared one and the program. With hidden symbols this costs nothing:
  # nobody outside can replace a function.
  add_compile_options(-fPIC -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-maybe-uninitialized)  # false positives on every std::optional<std::vector<…>>
endif()
if(EMSCRIPTEN)
  include(cmake/web_settings.cmake)
endif()
# These limit what a fault in the code can be used for. Tables of addresses are filled at the start and then read-only, so
# calls cost no more. The checks of TERN_HARDEN cost time. They are not in kernels (tern_compile): their loops would pay most,
# and their sizes have been checked where the plan was made.
option(TERN_HARDEN "Check bounds, stacks and jumps at run time" OFF)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_link_options(-Wl,-z,relro,-z,now)
endif()
if(TERN_HARDEN AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT TERN_SANITIZE)
  set(tern_hardening -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND tern_hardening -fcf-protection=full)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    list(APPEND tern_hardening -mbranch-protection=standard)
  endif()
endif()
if(TERN_SANITIZE)
  # -O1 -g1: these builds compile in little more than half the time of -O2 -g, and reports still name every line.
  add_compile_options(-O1 -g1 -fsanitize=${TERN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TERN_SANITIZE})
endif()

option(TERN_UNITY "Compile the files of a target together, which takes half as long as each alone" ON)
find_program(TERN_CCACHE ccache)
if(TERN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the checkout count as relative, so that checkouts share what was compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TERN_CCACHE})
endif()
find_program(TERN_MOLD mold)
if(TERN_MOLD AND NOT EMSCRIPTEN)
  add_link_options(-fuse-ld=mold)
endif()
