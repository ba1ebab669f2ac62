# run(COMMAND...): stops the test where the command fails; its output is in `output`.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${result}\n${out}${err}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

# expect(TEXT PART): the text has to contain it.
function(expect text part)
  string(FIND "${text}" "${part}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "'${part}' is not in:\n${text}")
  endif()
endfunction()
