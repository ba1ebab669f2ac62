# Picks the newest known compiler when the user named none. The floor is GCC 14 / Clang 18 (std::expected, std::format,
# C++23); Debian 12's default g++ is older, and ./setup installs a newer one beside it.
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(TERN_CXX NAMES g++-16 g++-15 g++-14 clang++-21 clang++-20 clang++-19 clang++-18)
  if(TERN_CXX)
    set(CMAKE_CXX_COMPILER "${TERN_CXX}" CACHE FILEPATH "C++ compiler")
  endif()
endif()
