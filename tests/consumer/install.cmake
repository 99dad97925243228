# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD=... -DPREFIX=... -DCONFIG=... -P install.cmake: installs into an empty prefix and looks at what came.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --config ${CONFIG}
                OUTPUT_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "cmake --install failed")
endif()
foreach(file bin/regatta-sim bin/regatta-trace include/regatta/protocol/extension_points.h
             include/regatta/baseline/register_file.h include/regatta/assembly/tool.h
             include/regatta/schemes/schemes.h include/regatta/cosim/verilated_pins.h
             include/regatta/regless/compressor_twins.h
             bin/regatta bin/regatta-compare bin/regatta-report bin/regatta-sample bin/regatta-study share/regatta/trace.proto)
  if(NOT EXISTS ${PREFIX}/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()
# Nothing of the source or build tree may be named in the package, or it would not survive a move.
file(GLOB_RECURSE package ${PREFIX}/*.cmake)
get_filename_component(source ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
foreach(file IN LISTS package)
  file(STRINGS ${file} lines)
  foreach(line IN LISTS lines)
    string(FIND "${line}" "${source}/" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} names the source tree: ${line}")
    endif()
  endforeach()
endforeach()
