# How long a test may take: seconds on a machine of which ./check is measured, and as many times as long on a slower one.
# A loop of CMake's own is what a machine without any compiler could be measured by, and takes a third of a second. The
# fastest round counts; on a busy machine that is a slow one, too, as it is for tests.
function(tern_measure_machine percent)
  set(usual 70000)  # microseconds of a round: two cores of an AMD EPYC 7003
  set(fastest 1000000000)
  foreach(round RANGE 1 5)
    string(TIMESTAMP start "%s%f" UTC)
    foreach(i RANGE 1 20000)
      math(EXPR unused "${i} % 7")
    endforeach()
    string(TIMESTAMP end "%s%f" UTC)
    math(EXPR took "${end} - ${start}")
    if(took LESS fastest)
      set(fastest ${took})
    endif()
  endforeach()
  math(EXPR of_usual "100 * ${fastest} / ${usual}")
  if(of_usual LESS 100)
    set(of_usual 100)
  elseif(of_usual GREATER 400)  # what hangs should still end
    set(of_usual 400)
  endif()
  set(${percent} ${of_usual} PARENT_SCOPE)
endfunction()
if(TERN_TESTS)
  tern_measure_machine(TERN_TEST_LIMITS)
  message(STATUS "Tests may take ${TERN_TEST_LIMITS} % of their usual limits on this machine")
endif()

# tern_scaled(VARIABLE SECONDS): the limit on this machine.
function(tern_scaled variable seconds)
  math(EXPR scaled "${seconds} * ${TERN_TEST_LIMITS} / 100")
  set(${variable} ${scaled} PARENT_SCOPE)
endfunction()

# tern_limit(SECONDS TESTS...): for tests of add_test.
function(tern_limit seconds)
  tern_scaled(limit ${seconds})
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT ${limit})
endfunction()
