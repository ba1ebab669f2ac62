# ARM64 Linux, built on another machine by what ./setup --arm64 unpacked: the compiler and the emulator of this machine, and
# the libraries of Debian's arm64. CMake reads this file again for each of its trial programs.
set(tern_toolchains ${CMAKE_CURRENT_LIST_DIR}/../build/toolchain)
foreach(part arm64 arm64_libraries)
  if(NOT EXISTS ${tern_toolchains}/${part}/.complete)
    message(FATAL_ERROR "There is no cross compiler for ARM64. Run ./setup --arm64")
  endif()
  file(REAL_PATH ${tern_toolchains}/${part} tern_${part})
endforeach()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT ${tern_arm64_libraries})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER ${tern_arm64}/usr/bin/aarch64-linux-gnu-gcc-16)
set(CMAKE_CXX_COMPILER ${tern_arm64}/usr/bin/aarch64-linux-gnu-g++-16)
set(CMAKE_PREFIX_PATH ${tern_arm64_libraries}/usr)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR}
    "${tern_arm64_libraries}/usr/lib/aarch64-linux-gnu/pkgconfig:${tern_arm64_libraries}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${tern_arm64_libraries})

# The tools of the machine that builds: pkg-config and Ninja of ./setup, where it brought them.
if(EXISTS ${tern_toolchains}/build/tools)
  file(REAL_PATH ${tern_toolchains}/build/tools tern_tools)
  set(PKG_CONFIG_EXECUTABLE ${tern_tools}/pkg-config CACHE FILEPATH "")
  set(CMAKE_MAKE_PROGRAM ${tern_tools}/ninja CACHE FILEPATH "")
  list(APPEND CMAKE_PROGRAM_PATH ${tern_tools})
endif()
set(TERN_MOLD OFF CACHE FILEPATH "The cross compiler comes with its own linker")
# CTest starts programs so. The environment variable QEMU_CPU chooses the processor (`qemu-aarch64 -cpu help`).
set(CMAKE_CROSSCOMPILING_EMULATOR ${tern_arm64}/usr/bin/qemu-aarch64 -L ${tern_arm64_libraries})
