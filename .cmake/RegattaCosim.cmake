# SPDX-License-Identifier: Apache-2.0
# RTL twins of blocks (platform/cosim). Verilator is optional: without it everything else is built.
#   REGATTA_COSIM=AUTO  regatta-sim has the twins if Verilator 5 is found and no sanitizer is on
#                 ON    they are built, or the configuration fails; their tests too (make cosim)
#                 OFF   they are not
set(REGATTA_COSIM AUTO CACHE STRING "RTL twins of blocks, made by Verilator: AUTO, ON or OFF")
set_property(CACHE REGATTA_COSIM PROPERTY STRINGS AUTO ON OFF)
if(NOT REGATTA_COSIM MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "REGATTA_COSIM is '${REGATTA_COSIM}'; expected AUTO, ON or OFF")
endif()

set(REGATTA_VERILATED OFF)
if(REGATTA_COSIM STREQUAL "OFF")
  message(STATUS "RTL co-simulation: off")
elseif(REGATTA_COSIM STREQUAL "AUTO" AND REGATTA_SANITIZE)
  message(STATUS "RTL co-simulation: off (with sanitizers, REGATTA_COSIM=ON switches it on)")
else()
  find_package(verilator QUIET HINTS $ENV{VERILATOR_ROOT} /usr/share/verilator)
  set(found "no Verilator")
  if(verilator_FOUND)
    execute_process(COMMAND ${VERILATOR_BIN} --version OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(found MATCHES "^Verilator ([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 5)
    set(REGATTA_VERILATED ON)
    message(STATUS "RTL co-simulation: Verilator ${CMAKE_MATCH_1}")
  else()
    set(what "expected Verilator 5 (.cmake/setup-packages.sh --cosim installs it), found: ${found}")
    if(REGATTA_COSIM STREQUAL "ON")
      message(FATAL_ERROR "REGATTA_COSIM is ON: ${what}")
    endif()
    message(STATUS "RTL co-simulation: off (${what})")
  endif()
endif()

# regatta_verilated(<target>): a library of generated code, which our warnings and checks do not apply to. Its name ends
# in _verilated (check-tidy.sh).
function(regatta_verilated target)
  if(NOT target MATCHES "_verilated$")
    message(FATAL_ERROR "regatta_verilated(${target}): expected a name that ends in _verilated")
  endif()
  add_library(${target} STATIC)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE ${VERILATOR_CFLAGS} -w)
  target_compile_definitions(${target} PUBLIC VL_TIME_CONTEXT)  # no global sc_time_stamp()
  if(REGATTA_SANITIZE)
    target_link_libraries(${target} PRIVATE regatta_flags)
  endif()
endfunction()

# regatta_verilate(<target> <prefix> TOP <module> SOURCES ... [LATENCY <n>] [DEFINES ...]): adds the class <prefix>, with
# the code of waveforms (FST) and of checkpoints. Lint warnings are errors.
function(regatta_verilate target prefix)
  cmake_parse_arguments(ARG "" "TOP;LATENCY" "SOURCES;DEFINES" ${ARGN})
  set(args -Wall --savable --x-assign 0 --x-initial 0 -O3)
  if(ARG_DEFINES)
    set(args -Wno-lint --savable --x-assign 0 --x-initial 0 -O3)  # a seeded bug may leave signals unused
  endif()
  if(ARG_LATENCY)
    list(APPEND args -GLATENCY=${ARG_LATENCY})
  endif()
  foreach(define IN LISTS ARG_DEFINES)
    list(APPEND args +define+${define})
  endforeach()
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  verilate(${target} PREFIX ${prefix} TOP_MODULE ${ARG_TOP} TRACE_FST SOURCES ${ARG_SOURCES} VERILATOR_ARGS ${args})
  # One file a class: names with file scope are the same in all of them.
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "/${prefix}\\.dir/[^/]*\\.cpp$")
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${prefix})
  # Headers of generated code are system headers to those who include them.
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${folders}")
endfunction()
