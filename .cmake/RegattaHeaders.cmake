# SPDX-License-Identifier: Apache-2.0
# How hard the compiler works on a target, and headers that are compiled once for many targets.

# regatta_effort(<target> hot|cold|test|computing_test): the optimisation of a target in a release build.
#   hot             what runs in every cycle or for every instruction: all there is
#   cold            what runs once a run or once a kernel: a third of the compiler's time less
#   test            as little as possible: what is tested is optimised, the tests themselves are many and run once
#   computing_test  tests that compute much themselves
function(regatta_effort target effort)
  if(effort STREQUAL "cold")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  elseif(effort MATCHES "test$")
    target_link_libraries(${target} PRIVATE regatta_test_flags)
    set(level -O0)
    if(effort STREQUAL "computing_test")
      set(level -O1)
    endif()
    if(REGATTA_SANITIZE)
      target_compile_options(${target} PRIVATE ${level})
    else()
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
    endif()
  elseif(NOT effort STREQUAL "hot")
    message(FATAL_ERROR "regatta_effort(${target} ${effort}): expected hot, cold, test or computing_test")
  endif()
endfunction()

# Reading the headers of SystemC, of the standard library and of the rooms below is a third of most compilations. Sources
# may not rely on it: they include what they use, and clang-tidy reads them without.
option(REGATTA_PRECOMPILE "Compile headers that many sources include once" ON)

set(regatta_headers_standard <algorithm> <array> <cstdint> <cstring> <filesystem> <fstream> <functional> <iostream> <map> <memory>
    <optional> <set> <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
# regatta_headers(<group> OF <library> HEADERS ...): a group of headers, found where <library> finds them.
function(regatta_headers group)
  cmake_parse_arguments(ARG "" "OF" "HEADERS" ${ARGN})
  set_property(GLOBAL PROPERTY regatta_headers_${group}_of ${ARG_OF})
  set_property(GLOBAL PROPERTY regatta_headers_${group} ${ARG_HEADERS})
endfunction()
regatta_headers(trace OF regatta_trace_types HEADERS ${regatta_headers_standard} <regatta/trace/types.h>)
regatta_headers(platform OF regatta_banks
                HEADERS ${regatta_headers_standard} <systemc> <tlm> <regatta/protocol/extension_points.h> <regatta/protocol/payload.h>
                        <regatta/support/config.h> <regatta/support/energy.h>)
regatta_headers(assembly OF regatta_assembly
                HEADERS ${regatta_headers_standard} <systemc> <tlm> <regatta/assembly/simulation.h> <regatta/protocol/payload.h>)

# regatta_use_headers(<target> <effort> [PLAIN]): the target, made in this folder, finds the headers of its room compiled; a
# test Catch2's too. PLAIN: it is not linked with SystemC, whose headers have code that every program with them needs.
function(regatta_use_headers target effort)
  file(RELATIVE_PATH room ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT REGATTA_PRECOMPILE OR room MATCHES "^(compiler/emulator|\\.\\.)")  # its options are its own
    return()
  endif()
  if("PLAIN" IN_LIST ARGN)
    set(group trace)
  elseif(room MATCHES "^(platform/(assembly|tool)|models/[^/]*/scheme|tests/(system|models/[^/]*/scheme|platform/(assembly|laws|sm|recorders)))")
    set(group assembly)
  elseif(room MATCHES "^(tests/)?(platform|models)")
    set(group platform)
  else()
    set(group trace)
  endif()
  set(compiled regatta_headers_${group}_${effort})
  # Where few sources would use them, compiling them takes longer than they save.
  if(compiled MATCHES "_(trace_hot|platform_cold|assembly_hot)$")
    return()
  endif()
  if(NOT TARGET ${compiled})
    get_property(of GLOBAL PROPERTY regatta_headers_${group}_of)
    get_property(headers GLOBAL PROPERTY regatta_headers_${group})
    set(source ${PROJECT_BINARY_DIR}/headers/${compiled}.cpp)
    file(GENERATE OUTPUT ${source} CONTENT "// No code: its headers are compiled.\n")
    add_library(${compiled} OBJECT EXCLUDE_FROM_ALL ${source})
    target_compile_features(${compiled} PRIVATE cxx_std_17)
    target_include_directories(${compiled} PRIVATE $<TARGET_PROPERTY:${of},INCLUDE_DIRECTORIES>)
    target_link_libraries(${compiled} PRIVATE regatta_flags)
    regatta_effort(${compiled} ${effort})
    if(effort MATCHES "test$")
      list(APPEND headers <regatta/test/catch.h>)
      target_include_directories(${compiled} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/include)
    endif()
    target_precompile_headers(${compiled} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${compiled})
endfunction()
