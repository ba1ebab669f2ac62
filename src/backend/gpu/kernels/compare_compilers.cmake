# cmake -DCOMPILER=… -DSOURCES=a.cc,b.cc -DINCLUDES=dir,dir -DBASE=libtern_base.a -DGOLDEN=folder -DWORK=folder -P this
# Kernels traced by another compiler have the same text: nothing in them hangs on the order in which a compiler
# evaluates arguments, or prints numbers.
string(REPLACE "," ";" sources "${SOURCES}")
string(REPLACE "," ";-I" includes "-I${INCLUDES}")
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/texts)
execute_process(COMMAND ${COMPILER} -std=c++23 -O0 ${includes} ${sources} ${BASE} -o ${WORK}/golden_writer
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/golden_writer ${WORK}/texts COMMAND_ERROR_IS_FATAL ANY)
file(GLOB texts RELATIVE ${WORK}/texts ${WORK}/texts/*.wgsl)
list(LENGTH texts n)
if(n EQUAL 0)
  message(FATAL_ERROR "the golden writer wrote nothing")
endif()
foreach(name IN LISTS texts)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${WORK}/texts/${name} ${GOLDEN}/${name} RESULT_VARIABLE differs)
  if(differs)
    message(SEND_ERROR "${name}: ${COMPILER} writes ${WORK}/texts/${name}, golden/ has another text. "
                       "If kernel_golden_test passes, the text depends on the compiler")
  endif()
endforeach()
