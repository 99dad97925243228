# SPDX-License-Identifier: Apache-2.0
# Compiler settings and the functions every room's CMakeLists.txt uses.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(REGATTA_CCACHE ccache)
if(REGATTA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${REGATTA_CCACHE})
endif()

add_library(regatta_flags INTERFACE)
target_compile_options(regatta_flags INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${REGATTA_WERROR}>:-Werror>)
# Processors since 2009: population count and 16-byte vector moves without a call.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-march=x86-64-v2 REGATTA_HAVE_X86_64_V2)
if(REGATTA_HAVE_X86_64_V2)
  target_compile_options(regatta_flags INTERFACE -march=x86-64-v2)
endif()
if(REGATTA_SANITIZE)
  target_compile_options(regatta_flags INTERFACE -fsanitize=${REGATTA_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  # False positives in <regex> under -fsanitize.
  target_compile_options(regatta_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(regatta_flags INTERFACE -fsanitize=${REGATTA_SANITIZE})
endif()
# After regatta_flags, for the tests' own code: what undefined behaviour there is to find is in what they test, and a
# third of the time to compile a test goes into looking for it.
add_library(regatta_test_flags INTERFACE)
if(REGATTA_SANITIZE MATCHES "undefined")
  target_compile_options(regatta_test_flags INTERFACE -fno-sanitize=undefined)
endif()

if(REGATTA_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "REGATTA_FUZZERS needs clang: libFuzzer is a part of it. Use the preset 'fuzz'.")
  endif()
  # Coverage for libFuzzer in every library; only the targets link its main().
  target_compile_options(regatta_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(regatta_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# What is installed: libraries and tools, no tests.
add_custom_target(regatta_installed)

# regatta_library(<name> [INTERFACE] [UNITY] SOURCES ... PUBLIC deps ... PRIVATE deps ...)
# UNITY compiles the sources as one, for rooms whose hot path crosses files.
# A library regatta_<name>, alias regatta::<name>; public headers under ./include. Installed and exported.
function(regatta_library name)
  cmake_parse_arguments(ARG "INTERFACE;UNITY" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(target regatta_${name})
  if(ARG_INTERFACE)
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(${target} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
    # Headers take half the time of most files: some share them.
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    if(ARG_UNITY)
      set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
    endif()
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:regatta_flags> ${ARG_PRIVATE})
  endif()
  add_library(regatta::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_17)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/include)
    target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
  endif()
  target_link_libraries(${target} ${scope} ${ARG_PUBLIC})
  add_dependencies(regatta_installed ${target})
  # A component of the package (RegattaInstall.cmake) and what it needs.
  set_property(GLOBAL APPEND PROPERTY regatta_components ${name})
  set_property(GLOBAL PROPERTY regatta_component_needs_${name} ${ARG_PUBLIC} ${ARG_PRIVATE})
  install(TARGETS ${target} EXPORT regatta-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# regatta_tool(<name> SOURCES ... LIBS ...): an installed executable with a hyphenated name.
function(regatta_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE regatta_flags ${ARG_LIBS})
  target_compile_definitions(${name} PRIVATE REGATTA_VERSION="${PROJECT_VERSION}")
  add_dependencies(regatta_installed ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# regatta_test(<name> [SYSTEMC] [OPTIMIZED] [REPEATS] [TIMEOUT <seconds>] SOURCES ... LIBS ...): a Catch2 executable
# whose cases run as separate processes under ctest (a SystemC program elaborates once, so each case needs its own).
# OPTIMIZED: the tests themselves compute much. REPEATS: more programs and machines through code that other tests run
# too; not built with sanitizers, under which it takes eight times as long. COSIM: needs Verilated blocks; built if
# REGATTA_COSIM is ON, labelled cosim.
function(regatta_test name)
  cmake_parse_arguments(ARG "SYSTEMC;OPTIMIZED;REPEATS;COSIM" "TIMEOUT" "SOURCES;LIBS" ${ARGN})
  set(files ${ARG_SOURCES})
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY regatta_test_sources ${files})
  if(REGATTA_SANITIZE AND ARG_REPEATS)
    return()
  endif()
  set(label "")
  if(ARG_COSIM)
    if(NOT REGATTA_COSIM STREQUAL "ON")
      return()
    endif()
    set(label LABELS cosim)
    set_property(GLOBAL APPEND PROPERTY regatta_cosim_tests ${name})
  endif()
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_SYSTEMC)
    target_link_libraries(${name} PRIVATE regatta_test_systemc_main)
  else()
    target_link_libraries(${name} PRIVATE regatta_test_main)
  endif()
  target_link_libraries(${name} PRIVATE regatta_flags regatta_test_flags ${ARG_LIBS})
  # What is tested is optimised; the tests themselves are many and run once: compiling them takes longer.
  if(REGATTA_SANITIZE)
    target_compile_options(${name} PRIVATE $<IF:$<BOOL:${ARG_OPTIMIZED}>,-O1,-O0>)
  else()
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${ARG_OPTIMIZED}>,-O1,-O0>>)
  endif()
  # Headers take half the time of a test file: eight files share them. File-local names must differ within a target.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests UNITY_BUILD ON
                                           UNITY_BUILD_BATCH_SIZE 8)
  # Those that may take long begin first, so that none is left alone at the end.
  if(REGATTA_SANITIZE AND NOT ARG_SYSTEMC AND NOT ARG_TIMEOUT)
    # To start an instrumented process takes longer than most cases.
    add_test(NAME "${name}: all cases" COMMAND ${name})
    set_tests_properties("${name}: all cases" PROPERTIES TIMEOUT 600 COST 600)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  catch_discover_tests(${name} TEST_PREFIX "${name}: " PROPERTIES TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT} ${label})
endfunction()

# regatta_check_tests(): no file of tests is without a target, and so never run.
function(regatta_check_tests)
  get_property(built GLOBAL PROPERTY regatta_test_sources)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/test_*.cpp)
  list(REMOVE_ITEM files ${built})
  if(files)
    message(FATAL_ERROR "tests that no regatta_test() names: ${files}")
  endif()
endfunction()
