# Every library that Tern uses. Each is looked for on the system first (./setup installs them from Debian's archive) and
# fetched at the pinned revision otherwise.
if(EMSCRIPTEN)
  include(cmake/web_dependencies.cmake)
  return()
endif()
include(FetchContent)
set(FETCHCONTENT_QUIET ON)

# tern_dependency(NAME REPOSITORY REVISION [find_package arguments]...)
macro(tern_dependency name repository revision)
  FetchContent_Declare(${name} GIT_REPOSITORY ${repository} GIT_TAG ${revision} SYSTEM EXCLUDE_FROM_ALL
                       FIND_PACKAGE_ARGS ${ARGN})
  FetchContent_MakeAvailable(${name})
endmacro()

find_package(Threads REQUIRED)

# SIMD with run-time dispatch.
set(HWY_ENABLE_TESTS OFF CACHE BOOL "")
set(HWY_ENABLE_EXAMPLES OFF CACHE BOOL "")
set(HWY_ENABLE_CONTRIB OFF CACHE BOOL "")
tern_dependency(hwy https://github.com/google/highway.git 1.3.0 CONFIG)
if(NOT TARGET hwy::hwy)
  add_library(hwy::hwy ALIAS hwy)
endif()

# JSON: tokenizer.json, the command line's --json output.
tern_dependency(nlohmann_json https://github.com/nlohmann/json.git v3.11.3)

# Command line.
tern_dependency(CLI11 https://github.com/CLIUtils/CLI11.git v2.6.1)

# Pre-tokenizer regular expressions. Debian ships a pkg-config file and no CMake package.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PCRE2 QUIET IMPORTED_TARGET libpcre2-8>=10.40)
endif()
if(PCRE2_FOUND)
  add_library(tern_pcre2 INTERFACE)
  target_link_libraries(tern_pcre2 INTERFACE PkgConfig::PCRE2)
else()
  set(PCRE2_SUPPORT_JIT ON CACHE BOOL "")
  set(PCRE2_BUILD_TESTS OFF CACHE BOOL "")
  set(PCRE2_BUILD_PCRE2GREP OFF CACHE BOOL "")
  FetchContent_Declare(pcre2 GIT_REPOSITORY https://github.com/PCRE2Project/pcre2.git GIT_TAG pcre2-10.46 SYSTEM EXCLUDE_FROM_ALL)
  FetchContent_MakeAvailable(pcre2)
  add_library(tern_pcre2 INTERFACE)
  target_link_libraries(tern_pcre2 INTERFACE pcre2-8-static)
endif()

# Unicode normalization and character classes of the tokenizers. Debian ships a pkg-config file and no CMake package.
if(PkgConfig_FOUND)
  pkg_check_modules(UTF8PROC QUIET IMPORTED_TARGET libutf8proc>=2.8)
endif()
add_library(tern_utf8proc INTERFACE)
if(UTF8PROC_FOUND)
  target_link_libraries(tern_utf8proc INTERFACE PkgConfig::UTF8PROC)
else()
  FetchContent_Declare(utf8proc GIT_REPOSITORY https://github.com/JuliaStrings/utf8proc.git GIT_TAG v2.10.0 SYSTEM EXCLUDE_FROM_ALL)
  FetchContent_MakeAvailable(utf8proc)
  target_link_libraries(tern_utf8proc INTERFACE utf8proc)
endif()

# Line editing of `tern chat`; without it the chat reads plain lines.
if(PkgConfig_FOUND)
  pkg_check_modules(ISOCLINE QUIET IMPORTED_TARGET isocline>=1.1)
endif()

# HTTP of `tern serve`. Debian builds it as a library with a pkg-config file and no CMake package.
if(PkgConfig_FOUND)
  pkg_check_modules(HTTPLIB QUIET IMPORTED_TARGET cpp-httplib>=0.41)
endif()
add_library(tern_httplib INTERFACE)
if(HTTPLIB_FOUND)
  target_link_libraries(tern_httplib INTERFACE PkgConfig::HTTPLIB)
else()
  foreach(part ZLIB BROTLI ZSTD)  # OpenSSL is for TLS, where it is installed
    set(HTTPLIB_USE_${part}_IF_AVAILABLE OFF CACHE BOOL "")
  endforeach()
  if(MINGW)  # whose headers lack a function that it needs
    set(HTTPLIB_USE_NON_BLOCKING_GETADDRINFO OFF CACHE BOOL "")
  endif()
  FetchContent_Declare(httplib GIT_REPOSITORY https://github.com/yhirose/cpp-httplib.git GIT_TAG v0.41.0 SYSTEM EXCLUDE_FROM_ALL)
  FetchContent_MakeAvailable(httplib)
  target_link_libraries(tern_httplib INTERFACE httplib::httplib)
endif()

# Downloads (`tern pull`, -hf). Not fetched where missing: TLS is what a system keeps up to date. Without them, Tern reads
# only files that are there.
# On Windows libcurl is built here: its TLS is the system's own, with the system's certificates.
find_package(OpenSSL QUIET COMPONENTS Crypto)
if(WIN32)
  function(tern_fetch_curl)
    foreach(setting BUILD_STATIC_LIBS CURL_USE_SCHANNEL HTTP_ONLY)
      set(${setting} ON CACHE BOOL "")
    endforeach()
    foreach(setting BUILD_CURL_EXE BUILD_EXAMPLES BUILD_LIBCURL_DOCS BUILD_MISC_DOCS CURL_BROTLI CURL_USE_LIBPSL CURL_USE_LIBSSH2 CURL_ZLIB
                    CURL_ZSTD ENABLE_CURL_MANUAL USE_LIBIDN2 USE_NGHTTP2)
      set(${setting} OFF CACHE BOOL "")
    endforeach()
    set(BUILD_SHARED_LIBS OFF)
    set(CMAKE_UNITY_BUILD ON)
    FetchContent_Declare(curl GIT_REPOSITORY https://github.com/curl/curl.git GIT_TAG curl-8_22_0 SYSTEM EXCLUDE_FROM_ALL)
    FetchContent_MakeAvailable(curl)
  endfunction()
  option(TERN_FETCH_CURL "Build libcurl, for downloads" ON)
  if(TERN_FETCH_CURL)
    tern_fetch_curl()
    set(CURL_FOUND ON)
  endif()
  set(tern_hash_library bcrypt)
  set(tern_hash_found ON)
else()
  find_package(CURL 7.84 QUIET)
  set(tern_hash_library OpenSSL::Crypto)
  set(tern_hash_found ${OpenSSL_FOUND})
endif()
if(CURL_FOUND AND tern_hash_found)
  set(TERN_HUB ON)
else()
  set(TERN_HUB OFF)
  message(STATUS "libcurl or OpenSSL (libcurl4-openssl-dev, libssl-dev) is not installed: building without downloads")
endif()

# WebGPU, for the GPU backend. Dawn is too large to be fetched and built here: without it, Tern has no GPU backend.
option(TERN_WEBGPU "Build the WebGPU backend, where Dawn is installed" ON)
if(TERN_WEBGPU)
  find_package(Dawn CONFIG QUIET)
  if(NOT Dawn_FOUND)
    message(STATUS "Dawn (libwebgpu-dawn-dev) is not installed: building without the WebGPU backend. ./setup installs it")
    set(TERN_WEBGPU OFF)
  endif()
endif()

if(TERN_TESTS)
  set(INSTALL_GTEST OFF CACHE BOOL "")
  tern_dependency(GTest https://github.com/google/googletest.git v1.17.0)
  include(GoogleTest)
endif()

if(TERN_BENCH)
  set(BENCHMARK_ENABLE_TESTING OFF CACHE BOOL "")
  tern_dependency(benchmark https://github.com/google/benchmark.git v1.9.1)
endif()
