# A program that was moved with its model uses that model.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
run(${moved}/bin/tern inspect)
expect("${output}" "${moved}/share/tern/models/tern-stories.gguf")
