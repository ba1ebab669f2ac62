# What the toolchain files for other systems do alike. CMake reads them again for each of its trial programs.
set(tern_toolchains ${CMAKE_CURRENT_LIST_DIR}/../build/toolchain)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# tern_need(OPTION PARTS...): sets tern_PART to the folder of what ./setup OPTION unpacked.
macro(tern_need option)
  foreach(part ${ARGN})
    if(NOT EXISTS ${tern_toolchains}/${part}/.complete)
      message(FATAL_ERROR "There is no ${part} to build with. Run ./setup ${option}")
    endif()
    file(REAL_PATH ${tern_toolchains}/${part} tern_${part})
  endforeach()
endmacro()

# tern_sources(FOLDER NAME=SUBFOLDER...): what the build would fetch is taken from there.
macro(tern_sources folder)
  foreach(library ${ARGN})
    string(REPLACE "=" ";" library ${library})
    list(GET library 0 name)
    list(GET library 1 subfolder)
    string(TOUPPER ${name} name)
    set(FETCHCONTENT_SOURCE_DIR_${name} ${folder}/${subfolder} CACHE PATH "")
  endforeach()
endmacro()

# The tools of the machine that builds, where ./setup brought them.
if(EXISTS ${tern_toolchains}/build/tools)
  file(REAL_PATH ${tern_toolchains}/build/tools tern_tools)
  set(CMAKE_MAKE_PROGRAM ${tern_tools}/ninja CACHE FILEPATH "")
  list(APPEND CMAKE_PROGRAM_PATH ${tern_tools})
endif()
