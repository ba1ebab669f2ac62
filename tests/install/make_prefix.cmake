# Installs `build` to `prefix`, and a second time as a copy in another place: `moved`.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${prefix} ${moved})
run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
file(COPY ${prefix}/bin ${prefix}/share DESTINATION ${moved})
foreach(path include/tern/engine.h include/tern/tern.h include/tern/version.h bin/tern share/tern/models/tern-stories.gguf
        share/tern/web/index.html)
  if(NOT EXISTS ${prefix}/${path})
    message(FATAL_ERROR "${path} was not installed")
  endif()
endforeach()
