# The libraries of builds with Emscripten: headers only. Regular expressions and Unicode are the browser's own
# (src/text/web), and so is WebGPU
# (src/backend/gpu/device/web); there are no downloads and no terminal.
include(FetchContent)
set(FETCHCONTENT_QUIET ON)
set(TERN_HUB OFF)
set(TERN_WEBGPU ON)

# Threads come with the flavor's flags (web_settings.cmake).
add_library(Threads::Threads INTERFACE IMPORTED)

# tern_web_headers(TARGET FOLDER HEADER REPOSITORY REVISION [FOLDER_IN_REPOSITORY]): a target whose include path has
# `FOLDER` alone in it, from the system if it is there: the rest of /usr/include is not for this machine.
function(tern_web_headers target folder header repository revision)
  find_path(tern_${folder}_headers ${folder}/${header} PATHS ${tern_toolchains}/build/usr/include /usr/local/include /usr/include NO_CMAKE_FIND_ROOT_PATH)
  set(from ${tern_${folder}_headers})
  if(NOT from)
    FetchContent_Declare(tern_${folder} GIT_REPOSITORY ${repository} GIT_TAG ${revision} SOURCE_SUBDIR none)
    FetchContent_MakeAvailable(tern_${folder})
    set(from ${tern_${folder}_SOURCE_DIR}/${ARGV5})
  endif()
  set(include ${PROJECT_BINARY_DIR}/web_include/${folder})
  file(MAKE_DIRECTORY ${include})
  file(CREATE_LINK ${from}/${folder} ${include}/${folder} SYMBOLIC)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${include})
endfunction()

tern_web_headers(hwy::hwy hwy highway.h https://github.com/google/highway.git 1.3.0)
# One instruction set, and so no dispatch and nothing of Highway to link.
target_compile_definitions(hwy::hwy INTERFACE HWY_COMPILE_ONLY_STATIC)
tern_web_headers(nlohmann_json::nlohmann_json nlohmann json.hpp https://github.com/nlohmann/json.git v3.11.3 include)

# Tests are programs that CTest starts under Node.
if(TERN_TESTS)
  find_path(TERN_GOOGLETEST googletest/CMakeLists.txt PATHS ${tern_toolchains}/build/usr/src/googletest /usr/src/googletest NO_CMAKE_FIND_ROOT_PATH)
  set(INSTALL_GTEST OFF CACHE BOOL "")
  set(BUILD_GMOCK OFF CACHE BOOL "")
  set(gtest_disable_pthreads ON CACHE BOOL "")
  if(TERN_GOOGLETEST)
    FetchContent_Declare(googletest SOURCE_DIR ${TERN_GOOGLETEST} SYSTEM EXCLUDE_FROM_ALL)
  else()
    FetchContent_Declare(googletest GIT_REPOSITORY https://github.com/google/googletest.git GIT_TAG v1.17.0 SYSTEM
                         EXCLUDE_FROM_ALL)
  endif()
  FetchContent_MakeAvailable(googletest)
  if(NOT TARGET GTest::gtest)
    add_library(GTest::gtest ALIAS gtest)
  endif()
  include(GoogleTest)
endif()
