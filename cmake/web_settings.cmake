# Settings of builds with Emscripten, for browsers and Node. One build folder holds one flavour of the engine, since its
# flags must be the same for every file:
#   simd      128-bit SIMD, one thread: runs in every browser of the last years
#   relaxed   and relaxed SIMD, for its dot product of bytes
#   threads   and threads, on pages that are isolated from other origins
set(TERN_WEB_FLAVOUR "simd" CACHE STRING "What a WebAssembly build may use: simd, relaxed or threads")
set_property(CACHE TERN_WEB_FLAVOUR PROPERTY STRINGS simd relaxed threads)
if(NOT TERN_WEB_FLAVOUR MATCHES "^(simd|relaxed|threads)$")
  message(FATAL_ERROR "TERN_WEB_FLAVOUR is '${TERN_WEB_FLAVOUR}'; it can be simd, relaxed or threads")
endif()

# Exceptions as instructions, not as calls to JavaScript. Sizes are 64 bits wide in files and 32 in memory: what is read
# from a file is checked against the bytes that are there before it becomes a size.
add_compile_options(-msimd128 -fwasm-exceptions -Wno-shorten-64-to-32)
add_link_options(-fwasm-exceptions)
if(NOT TERN_WEB_FLAVOUR STREQUAL "simd")
  add_compile_options(-mrelaxed-simd)
endif()
if(TERN_WEB_FLAVOUR STREQUAL "threads")
  add_compile_options(-pthread)
  add_link_options(-pthread)
endif()
