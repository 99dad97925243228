# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=... -DBUILD=... -DNINJA=... -P no_tests.cmake: `make demo` and `make install` build regatta_installed, which has
# no file of tests or examples, and they say nothing but what they do.
foreach(goal demo install)
  execute_process(COMMAND make -n -C ${SOURCE} ${goal} JOBS=1 OUTPUT_VARIABLE commands ERROR_VARIABLE errors
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "make -n ${goal}: ${errors}")
  endif()
  if(NOT commands MATCHES "build\\.sh release 1 regatta_installed\n")
    message(FATAL_ERROR "make ${goal} does not build regatta_installed:\n${commands}")
  endif()
  if(commands MATCHES "build\\.sh release 1 all\n|cmake --build")
    message(FATAL_ERROR "make ${goal} builds more than regatta_installed:\n${commands}")
  endif()
endforeach()

if(NOT NINJA MATCHES "ninja")
  return()
endif()
execute_process(COMMAND ${NINJA} -C ${BUILD} -t commands regatta_installed OUTPUT_VARIABLE commands RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "ninja -t commands regatta_installed failed")
endif()
string(REGEX MATCHALL " -c [^\n]*\\.c(c|pp|xx)[\n ]" objects "${commands}")
list(FILTER objects EXCLUDE REGEX "verilat")  # of blocks in RTL, if there is Verilator
list(LENGTH objects count)
if(count LESS 50 OR count GREATER 180)
  message(FATAL_ERROR "regatta_installed compiles ${count} files, expected about 160")
endif()
if(objects MATCHES "(${SOURCE}/(tests|examples)/[^\n ]*)")
  message(FATAL_ERROR "regatta_installed compiles ${CMAKE_MATCH_1}")
endif()
