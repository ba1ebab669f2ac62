# Which instruction sets the CPU backend's kernels are compiled for. A program for any machine needs all of them, and each
# set is the kernels compiled once more: half the time of a build from nothing.
set(TERN_CPU_SETS all CACHE STRING "Instruction sets of the kernels: all; native for the best one that this machine takes; or avx2 alone")
set_property(CACHE TERN_CPU_SETS PROPERTY STRINGS all native avx2)
if(NOT TERN_CPU_SETS MATCHES "^(all|native|avx2)$")
  message(FATAL_ERROR "TERN_CPU_SETS is '${TERN_CPU_SETS}'; it can be all, native or avx2")
endif()
# For checks that kernels work at all, which need no speed.
set(TERN_KERNEL_OPTIONS "" CACHE STRING "Options with which kernels are compiled, after all others")

# tern_native_cpu_set(VARIABLE): the best set that this machine takes, as in "HWY_AVX2", on x86 where /proc/cpuinfo names the
# processor's features; empty where all sets are wanted. A program with one set refuses to run on a machine without it.
function(tern_native_cpu_set variable)
  set(${variable} "" PARENT_SCOPE)
  if(TERN_CPU_SETS STREQUAL "avx2")
    set(${variable} HWY_AVX2 PARENT_SCOPE)
    return()
  endif()
  if(TERN_CPU_SETS STREQUAL "all" OR EMSCRIPTEN OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$"
     OR NOT EXISTS /proc/cpuinfo)
    return()
  endif()
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  string(REGEX REPLACE "^[^:]*:" "" flags "${flags}")
  separate_arguments(flags UNIX_COMMAND "${flags}")
  # From the best set to the plainest, each with the features that Highway asks for.
  set(needs_AVX3_DL avx512f avx512bw avx512cd avx512dq avx512vl avx512_vnni avx512vbmi avx512_vbmi2 avx512_bitalg
                    avx512_vpopcntdq gfni vaes vpclmulqdq)
  set(needs_AVX3 avx512f avx512bw avx512cd avx512dq avx512vl)
  set(needs_AVX2 avx2 bmi1 bmi2 fma f16c)
  set(needs_SSE4 sse4_1 sse4_2 aes pclmulqdq)
  foreach(candidate AVX3_DL AVX3 AVX2 SSE4 SSE2)
    set(missing ${needs_${candidate}})
    list(REMOVE_ITEM missing ${flags})
    if(NOT missing)
      message(STATUS "Kernels for this machine only: ${candidate}. -DTERN_CPU_SETS=all compiles them for all")
      set(${variable} HWY_${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
