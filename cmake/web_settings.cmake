# Settings of builds with Emscripten, for browsers and Node. One build folder holds one flavor of the engine, since its
# flags must be the same for every file:
#   simd      128-bit SIMD, one thread: runs in every browser of the last years
#   relaxed   and relaxed SIMD, for its dot product of bytes
#   threads   and threads, on pages that are isolated from other origins
set(TERN_WEB_FLAVOR "simd" CACHE STRING "What a WebAssembly build may use: simd, relaxed or threads")
set_property(CACHE TERN_WEB_FLAVOR PROPERTY STRINGS simd relaxed threads)
if(NOT TERN_WEB_FLAVOR MATCHES "^(simd|relaxed|threads)$")
  message(FATAL_ERROR "TERN_WEB_FLAVOR is '${TERN_WEB_FLAVOR}'; it can be simd, relaxed or threads")
endif()

# What is downloaded should be small; src/backend/cpu, where the time goes, is compiled for speed.
set(CMAKE_CXX_FLAGS_RELEASE "-Oz -DNDEBUG")
if(NOT TERN_TESTS)  # a hundred links of tests would take too long
  add_compile_options(-flto)
  add_link_options(-flto)
endif()

# Exceptions as instructions, not as calls to JavaScript. Sizes are 64 bits wide in files and 32 in memory: what is read
# from a file is checked against the bytes that are there before it becomes a size.
add_compile_options(-msimd128 -fwasm-exceptions -Wno-shorten-64-to-32)
# tern_web_no_exceptions(TARGETS...): for libraries that neither throw nor catch, a quarter less to download. Memory that
# runs out still ends the call as an exception, past them.
function(tern_web_no_exceptions)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti)
  endforeach()
endfunction()
# Hostile chat templates take less than two thirds of the stack (apps/web/tests/cpu.test.mjs). It lies where running over
# it is an error and not somebody's data.
add_link_options(-fwasm-exceptions -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1536KB
                 -Wl,--stack-first)
if(NOT TERN_WEB_FLAVOR STREQUAL "simd")
  add_compile_options(-mrelaxed-simd)
endif()
if(TERN_WEB_FLAVOR STREQUAL "threads")
  add_compile_options(-pthread)
  # All threads are made ahead of time, since whoever uses them does not return to the page while they work.
  add_link_options(-pthread -sPTHREAD_POOL_SIZE=globalThis.navigator?.hardwareConcurrency??1 -sPTHREAD_POOL_SIZE_STRICT=2
                   -sDEFAULT_PTHREAD_STACK_SIZE=256KB -Wno-pthreads-mem-growth)
endif()
