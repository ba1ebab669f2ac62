# The libraries that others link, and what `cmake --install` puts where:
#   Tern::tern    libtern.a: the C++ interface (and the C one), whole; what it needs is found by find_package(Tern)
#   Tern::shared  libtern.so: the C interface alone; nothing else leaves it
# Both are made of the objects that the folders' libraries were compiled to.
include(CMakePackageConfigHelpers)

# Sets `own` to the static libraries of this build that `targets` are made of, themselves included, and `others` to what
# comes from elsewhere. Header-only libraries are neither: no public header includes them.
function(tern_link_closure own others)
  set(queue ${ARGN})
  set(found_own)
  set(found_others)
  while(queue)
    list(POP_FRONT queue item)
    if(item MATCHES "^nlohmann_json::" OR item MATCHES "^::@" OR item IN_LIST found_own OR item IN_LIST found_others)
      continue()
    endif()
    if(item STREQUAL "CURL::win32_winsock")  # a name that only curl's own folder knows
      set(item ws2_32)
    endif()
    if(NOT TARGET ${item})
      list(APPEND found_others ${item})
      continue()
    endif()
    get_target_property(aliased ${item} ALIASED_TARGET)
    if(aliased)
      list(PREPEND queue ${aliased})
      continue()
    endif()
    get_target_property(imported ${item} IMPORTED)
    get_target_property(type ${item} TYPE)
    if(imported OR type STREQUAL "SHARED_LIBRARY")
      list(APPEND found_others ${item})
      continue()
    endif()
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND found_own ${item})
    endif()
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(linked ${item} ${property})
      if(linked)
        list(TRANSFORM linked REPLACE "^\\$<(LINK_ONLY|BUILD_INTERFACE):(.*)>$" "\\2")
        list(APPEND queue ${linked})
      endif()
    endforeach()
  endwhile()
  list(REMOVE_DUPLICATES found_own)
  list(REMOVE_DUPLICATES found_others)
  set(${own} ${found_own} PARENT_SCOPE)
  set(${others} ${found_others} PARENT_SCOPE)
endfunction()

tern_link_closure(tern_parts tern_needs tern_c_api tern_tools)
set(tern_objects ${tern_parts})
list(TRANSFORM tern_objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
add_library(tern_static STATIC ${tern_objects})
target_link_libraries(tern_static PRIVATE ${tern_needs})
add_library(Tern::tern ALIAS tern_static)

add_library(tern_shared SHARED $<TARGET_OBJECTS:tern_c_api>)
target_link_libraries(tern_shared PRIVATE tern_engine tern_hub)
if(NOT WIN32)  # where the header names what leaves a library
  target_link_options(tern_shared PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/c_api/tern.map)
  set_property(TARGET tern_shared PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/c_api/tern.map)
endif()
if(NOT TERN_SANITIZE AND NOT WIN32)  # whose functions are the program's
  target_link_options(tern_shared PRIVATE LINKER:-z,defs)
endif()
# Until 1.0 a minor version may change the interface.
set_target_properties(tern_shared PROPERTIES
  EXPORT_NAME shared VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
add_library(Tern::shared ALIAS tern_shared)

# Beside share/, where both find the default model, in the build tree as where they are installed.
foreach(target tern_static tern_shared)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME tern LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
target_compile_features(tern_static INTERFACE cxx_std_23)
target_compile_definitions(tern_static INTERFACE $<BUILD_INTERFACE:TERN_DATA_DIR="${PROJECT_BINARY_DIR}/share/tern">)
set_target_properties(tern_static PROPERTIES EXPORT_NAME tern)

if(NOT TERN_INSTALL)  # part of another project, which links one of them, or neither
  set_target_properties(tern_static tern_shared PROPERTIES EXCLUDE_FROM_ALL TRUE)
  return()
endif()

# How a user of the static library finds each thing that it needs, with CMake and with a linker.
set(tern_find)
set(tern_link_flags -lstdc++ -lm)
foreach(need IN LISTS tern_needs)
  if(need STREQUAL "Threads::Threads")
    list(APPEND tern_find "find_dependency(Threads)")
    list(APPEND tern_link_flags -pthread)
  elseif(need STREQUAL "hwy::hwy")
    list(APPEND tern_find "find_dependency(hwy CONFIG)")
    list(APPEND tern_link_flags -lhwy)
  elseif(need STREQUAL "CURL::libcurl")
    list(APPEND tern_find "find_dependency(CURL)")
    list(APPEND tern_link_flags -lcurl)
  elseif(need STREQUAL "OpenSSL::Crypto")
    list(APPEND tern_find "find_dependency(OpenSSL COMPONENTS Crypto)")
    list(APPEND tern_link_flags -lcrypto)
  elseif(need STREQUAL "dawn::webgpu_dawn")
    list(APPEND tern_find "find_dependency(Dawn CONFIG)")
    list(APPEND tern_link_flags -lwebgpu_dawn)
  elseif(need STREQUAL "PkgConfig::PCRE2")
    list(APPEND tern_find "tern_find_with_pkg_config(PCRE2 libpcre2-8)")
    list(APPEND tern_link_flags -lpcre2-8)
  elseif(need STREQUAL "PkgConfig::UTF8PROC")
    list(APPEND tern_find "tern_find_with_pkg_config(UTF8PROC libutf8proc)")
    list(APPEND tern_link_flags -lutf8proc)
  elseif(WIN32 AND TARGET ${need})  # built here, and not for other projects yet
    continue()
  elseif(TARGET ${need})
    message(FATAL_ERROR "cmake/install.cmake does not say how users of libtern.a find ${need}")
  else()
    list(APPEND tern_link_flags -l${need})
  endif()
endforeach()
list(JOIN tern_find "\n  " tern_find)
list(JOIN tern_link_flags " " tern_link_flags)

set(tern_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tern)
configure_package_config_file(cmake/TernConfig.cmake.in ${PROJECT_BINARY_DIR}/TernConfig.cmake
  INSTALL_DESTINATION ${tern_package_dir} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TernConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH tern_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/tern.pc.in tern.pc @ONLY)

install(TARGETS tern_static EXPORT TernStatic ARCHIVE)
install(TARGETS tern_shared EXPORT TernShared LIBRARY RUNTIME)
install(EXPORT TernStatic NAMESPACE Tern:: DESTINATION ${tern_package_dir})
install(EXPORT TernShared NAMESPACE Tern:: DESTINATION ${tern_package_dir})
install(FILES ${PROJECT_BINARY_DIR}/TernConfig.cmake ${PROJECT_BINARY_DIR}/TernConfigVersion.cmake
        DESTINATION ${tern_package_dir})
install(FILES ${PROJECT_BINARY_DIR}/tern.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TERN_TOOLCHAIN)  # ./setup's: its C library may be newer than the one that the system's Python runs with
  configure_file(cmake/tern-python.in bin/tern-python @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
                 GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/tern-python TYPE BIN)
endif()
install(DIRECTORY include/tern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/include/tern/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tern)
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tern/models)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
