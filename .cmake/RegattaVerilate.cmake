# SPDX-License-Identifier: Apache-2.0
# C++ classes from SystemVerilog, for regatta::cosim. A part of the installed package: find_package(regatta) defines these.

# regatta_find_verilator(<variable>): sets REGATTA_VERILATOR_VERSION if there is Verilator 5 or later, and <variable> to
# what was found. A macro: verilate() reads variables that find_package() sets.
macro(regatta_find_verilator variable)
  find_package(verilator QUIET HINTS $ENV{VERILATOR_ROOT} /usr/share/verilator)
  set(${variable} "no Verilator")
  set(REGATTA_VERILATOR_VERSION "")
  if(verilator_FOUND)
    execute_process(COMMAND ${VERILATOR_BIN} --version OUTPUT_VARIABLE ${variable} OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(${variable} MATCHES "^Verilator ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 5)
      set(REGATTA_VERILATOR_VERSION ${CMAKE_MATCH_1})
    endif()
  endif()
endmacro()

# regatta_need_verilator(): ends the configuration without Verilator 5. For projects outside of regatta.
macro(regatta_need_verilator)
  regatta_find_verilator(_regatta_verilator)
  if(NOT REGATTA_VERILATOR_VERSION)
    message(FATAL_ERROR "expected Verilator 5 (Debian package verilator; or set VERILATOR_ROOT), found: ${_regatta_verilator}")
  endif()
endmacro()

# regatta_verilated(<target>): a library of generated code, which our warnings and checks do not apply to. Its name ends
# in _verilated (check_tidy.py).
function(regatta_verilated target)
  if(NOT target MATCHES "_verilated$")
    message(FATAL_ERROR "regatta_verilated(${target}): expected a name that ends in _verilated")
  endif()
  add_library(${target} STATIC)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  _regatta_generated_code(${target})
endfunction()
function(_regatta_generated_code target)
  target_compile_options(${target} PRIVATE ${VERILATOR_CFLAGS} -w)
  target_compile_definitions(${target} PUBLIC VL_TIME_CONTEXT)  # no global sc_time_stamp()
  if(REGATTA_SANITIZE)
    target_link_libraries(${target} PRIVATE regatta_flags)
  endif()
endfunction()

# regatta_verilate(<target> <prefix> TOP <module> SOURCES ... [LATENCY <n>] [PARAMETERS <name>=<value>...] [DEFINES ...]):
# adds the class <prefix>, with the code of waveforms (FST) and of checkpoints. Lint warnings are errors, except with DEFINES.
function(regatta_verilate target prefix)
  cmake_parse_arguments(ARG "" "TOP;LATENCY" "SOURCES;DEFINES;PARAMETERS" ${ARGN})
  set(args -Wall --savable --x-assign 0 --x-initial 0 -O3)
  if(ARG_DEFINES)
    set(args -Wno-lint --savable --x-assign 0 --x-initial 0 -O3)  # a seeded bug may leave signals unused
  endif()
  if(ARG_LATENCY)
    list(APPEND args -GLATENCY=${ARG_LATENCY})
  endif()
  foreach(parameter IN LISTS ARG_PARAMETERS)
    list(APPEND args -G${parameter})
  endforeach()
  foreach(define IN LISTS ARG_DEFINES)
    list(APPEND args +define+${define})
  endforeach()
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  verilate(${target} PREFIX ${prefix} TOP_MODULE ${ARG_TOP} TRACE_FST SOURCES ${ARG_SOURCES} VERILATOR_ARGS ${args})
  # Verilator's own sources, which verilate() gives to every target, once: they take longer than most blocks.
  get_target_property(sources ${target} SOURCES)
  set(runtime ${sources})
  list(FILTER runtime INCLUDE REGEX "/verilated[^/]*\\.cpp$")
  list(REMOVE_ITEM sources ${runtime})
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
  if(NOT TARGET regatta_runtime_verilated)
    add_library(regatta_runtime_verilated STATIC ${runtime})
    set_target_properties(regatta_runtime_verilated PROPERTIES LINKER_LANGUAGE CXX)
    _regatta_generated_code(regatta_runtime_verilated)
    target_compile_definitions(regatta_runtime_verilated PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
    target_include_directories(regatta_runtime_verilated SYSTEM PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    target_link_libraries(regatta_runtime_verilated PUBLIC ${libraries})
  endif()
  target_link_libraries(${target} PUBLIC regatta_runtime_verilated)
  # One file a class: names with file scope are the same in all of them.
  list(FILTER sources INCLUDE REGEX "/${prefix}\\.dir/[^/]*\\.cpp$")
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${prefix})
  # Headers of generated code are system headers to those who include them.
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${folders}")
endfunction()
