include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
run(${programs}/consumer)
expect("${output}" "${prefix}/share/tern/models/tern-stories.gguf")

# The example names a file of the reader's.
file(CREATE_LINK ${prefix}/share/tern/models/tern-stories.gguf ${programs}/model.gguf SYMBOLIC)
execute_process(COMMAND ${programs}/readme_example WORKING_DIRECTORY ${programs} RESULT_VARIABLE result OUTPUT_VARIABLE story)
string(LENGTH "${story}" n)
if(NOT result EQUAL 0 OR n LESS 100)
  message(FATAL_ERROR "the example of README.md ended with ${result} and said: ${story}")
endif()
