# Which instruction sets the CPU backend's kernels are compiled for. A program for any machine needs all of them, and each
# set is the kernels compiled once more: half the time of a build from nothing.
set(TERN_CPU_SETS all CACHE STRING "Instruction sets of the kernels: all, or native for those that this machine takes")
set_property(CACHE TERN_CPU_SETS PROPERTY STRINGS all native)
if(NOT TERN_CPU_SETS MATCHES "^(all|native)$")
  message(FATAL_ERROR "TERN_CPU_SETS is '${TERN_CPU_SETS}'; it can be all or native")
endif()

# tern_unwanted_cpu_sets(VARIABLE): the sets to leave out, as in "HWY_SSE4|HWY_AVX3|", on x86 where /proc/cpuinfo names the
# processor's features. SSE2, which every x86-64 processor has, stays: Highway needs it, and a program that is taken to an
# older machine still runs.
function(tern_unwanted_cpu_sets variable)
  set(${variable} "" PARENT_SCOPE)
  if(TERN_CPU_SETS STREQUAL "all" OR EMSCRIPTEN OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$"
     OR NOT EXISTS /proc/cpuinfo)
    return()
  endif()
  file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
  string(REGEX REPLACE "^[^:]*:" "" flags "${flags}")
  separate_arguments(flags UNIX_COMMAND "${flags}")
  # From the best set to the plainest, each with the features that Highway asks for.
  set(needs_AVX3_DL avx512f avx512bw avx512cd avx512dq avx512vl avx512_vnni avx512_vbmi avx512_vbmi2 avx512_bitalg
                    avx512_vpopcntdq gfni vaes vpclmulqdq)
  set(needs_AVX3 avx512f avx512bw avx512cd avx512dq avx512vl)
  set(needs_AVX2 avx2 bmi1 bmi2 fma f16c)
  set(needs_SSE4 sse4_1 sse4_2 aes pclmulqdq)
  set(found "")
  set(unwanted "")
  foreach(candidate AVX3_DL AVX3 AVX2 SSE4)
    set(missing ${needs_${candidate}})
    list(REMOVE_ITEM missing ${flags})
    if(found OR missing)
      string(APPEND unwanted "HWY_${candidate}|")
    else()
      set(found ${candidate})
    endif()
  endforeach()
  message(STATUS "Kernels for this machine only: SSE2 ${found}. -DTERN_CPU_SETS=all compiles them for all")
  set(${variable} "${unwanted}" PARENT_SCOPE)
endfunction()
