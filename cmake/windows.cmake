# Windows x64, built on another machine by what ./setup --windows unpacked: the compiler, and the sources of the libraries.
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
tern_need(--windows windows windows_libraries wine)

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(tern_mingw ${tern_windows}/usr/bin/x86_64-w64-mingw32ucrt-)
set(CMAKE_C_COMPILER ${tern_mingw}gcc)
set(CMAKE_CXX_COMPILER ${tern_mingw}g++)
set(CMAKE_RC_COMPILER ${tern_mingw}windres)
set(CMAKE_FIND_ROOT_PATH ${tern_windows_libraries})
set(CMAKE_PREFIX_PATH ${tern_windows_libraries}/usr)
set(CMAKE_DISABLE_FIND_PACKAGE_PkgConfig ON)
# One program that needs no library of the compiler beside it.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static")
tern_sources(${tern_windows_libraries}/usr/src
  hwy=highway pcre2=pcre2 utf8proc=utf8proc httplib=cpp-httplib curl=curl googletest=googletest gtest=googletest)
set(TERN_MOLD OFF CACHE FILEPATH "The cross compiler comes with its own linker")
# CTest starts programs so.
set(CMAKE_CROSSCOMPILING_EMULATOR ${tern_wine}/tools/wine64)
