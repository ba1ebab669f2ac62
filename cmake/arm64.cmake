# ARM64 Linux, built on another machine by what ./setup --arm64 unpacked: the compiler and the emulator of this machine, and
# the libraries of Debian's arm64.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
tern_need(--arm64 arm64 arm64_libraries)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT ${tern_arm64_libraries})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER ${tern_arm64}/usr/bin/aarch64-linux-gnu-gcc-16)
set(CMAKE_CXX_COMPILER ${tern_arm64}/usr/bin/aarch64-linux-gnu-g++-16)
set(CMAKE_PREFIX_PATH ${tern_arm64_libraries}/usr)
set(ENV{PKG_CONFIG_LIBDIR}
    "${tern_arm64_libraries}/usr/lib/aarch64-linux-gnu/pkgconfig:${tern_arm64_libraries}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${tern_arm64_libraries})

if(tern_tools)
  set(PKG_CONFIG_EXECUTABLE ${tern_tools}/pkg-config CACHE FILEPATH "")
endif()
set(TERN_MOLD OFF CACHE FILEPATH "The cross compiler comes with its own linker")
# CTest starts programs so. The environment variable QEMU_CPU chooses the processor (`qemu-aarch64 -cpu help`).
set(CMAKE_CROSSCOMPILING_EMULATOR ${tern_arm64}/usr/bin/qemu-aarch64 -L ${tern_arm64_libraries})
