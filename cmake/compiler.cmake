# Picks the compiler, before project(): the toolchain that ./setup unpacked for this user, where it did; otherwise the newest
# known compiler of the system. The floor is GCC 14 / Clang 18 (std::expected, std::format, C++23).
option(TERN_PRIVATE_TOOLCHAIN "Use the toolchain of ./setup, where there is one" ON)
if(NOT CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  return()  # part of another project, which has chosen
endif()

set(tern_toolchains ${CMAKE_CURRENT_SOURCE_DIR}/build/toolchain)
if(TERN_PRIVATE_TOOLCHAIN AND CMAKE_CXX_COMPILER AND NOT IS_ABSOLUTE "${CMAKE_CXX_COMPILER}")
  find_program(TERN_NAMED_CXX NAMES ${CMAKE_CXX_COMPILER} NO_DEFAULT_PATH NO_CACHE
               PATHS ${tern_toolchains}/build/tools ${tern_toolchains}/checks/tools)
  if(TERN_NAMED_CXX)
    set(CMAKE_CXX_COMPILER ${TERN_NAMED_CXX} CACHE FILEPATH "C++ compiler" FORCE)
  endif()
endif()

if(TERN_WEB_ENGINE)
  if(NOT CMAKE_TOOLCHAIN_FILE)
    find_file(TERN_EMSCRIPTEN Platform/Emscripten.cmake NO_CACHE REQUIRED NO_DEFAULT_PATH
              PATHS ${tern_toolchains}/web/usr/share/emscripten/cmake/Modules $ENV{EMSCRIPTEN_ROOT}/cmake/Modules
                    $ENV{EMSDK}/upstream/emscripten/cmake/Modules /usr/share/emscripten/cmake/Modules)
    set(CMAKE_TOOLCHAIN_FILE ${TERN_EMSCRIPTEN} CACHE FILEPATH "Emscripten's")
  endif()
elseif(TERN_PRIVATE_TOOLCHAIN AND NOT CMAKE_TOOLCHAIN_FILE AND EXISTS ${tern_toolchains}/build/toolchain.cmake)
  file(REAL_PATH ${tern_toolchains}/build/toolchain.cmake tern_toolchain_file)
  set(CMAKE_TOOLCHAIN_FILE ${tern_toolchain_file} CACHE FILEPATH "The toolchain of ./setup")
elseif(NOT CMAKE_TOOLCHAIN_FILE AND NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(TERN_CXX NAMES g++-16 g++-15 g++-14 clang++-21 clang++-20 clang++-19 clang++-18)
  if(TERN_CXX)
    set(CMAKE_CXX_COMPILER "${TERN_CXX}" CACHE FILEPATH "C++ compiler")
  endif()
endif()
