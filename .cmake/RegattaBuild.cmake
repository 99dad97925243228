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
  # Sources see compiled headers (RegattaHeaders.cmake) by their contents.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${REGATTA_CCACHE})
endif()
include(RegattaHeaders)

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
  # A check of null and alignment before every access takes more than half of the compiler's time; AddressSanitizer stops
  # where a null pointer is used. Likewise the checks of an object's size and of its dynamic type.
  if(REGATTA_SANITIZE MATCHES "undefined")
    target_compile_options(regatta_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
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

# Links in half the time. Only for tests, which are many.
find_program(REGATTA_GOLD ld.gold)

# What is installed: libraries and tools, no tests.
add_custom_target(regatta_installed)

# regatta_add_folders(<pattern>): every folder of that shape with a CMakeLists.txt, in alphabetical order.
function(regatta_add_folders pattern)
  file(GLOB folders CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${pattern}/CMakeLists.txt)
  list(SORT folders)
  foreach(folder IN LISTS folders)
    get_filename_component(folder ${folder} DIRECTORY)
    add_subdirectory(${folder})
  endforeach()
endfunction()

# regatta_library(<name> [INTERFACE] [UNITY] [COLD] SOURCES ... COLD_SOURCES ... HEADERS ... PUBLIC deps ... PRIVATE deps ...)
# HEADERS: further folders, relative to this one, whose public headers are the library's too.
# UNITY compiles the sources as one, for rooms whose hot path crosses files. COLD, or only COLD_SOURCES:
# no code that runs in every cycle or for every instruction.
# A library regatta_<name>, alias regatta::<name>; public headers under ./include. Installed and exported.
function(regatta_library name)
  cmake_parse_arguments(ARG "INTERFACE;UNITY;COLD" "" "SOURCES;COLD_SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
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
    set(effort hot)
    if(ARG_COLD)
      set(effort cold)
    endif()
    regatta_effort(${target} ${effort})
    regatta_use_headers(${target} ${effort})
    if(ARG_COLD_SOURCES)
      set(cold ${target}_cold)
      add_library(${cold} OBJECT ${ARG_COLD_SOURCES})
      set_target_properties(${cold} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
      target_compile_features(${cold} PRIVATE cxx_std_17)
      # What it sees is what the library sees, private parts too.
      target_include_directories(${cold} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
      target_include_directories(${cold} SYSTEM PRIVATE $<TARGET_PROPERTY:${target},INTERFACE_SYSTEM_INCLUDE_DIRECTORIES>)
      target_compile_definitions(${cold} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
      target_link_libraries(${cold} PRIVATE regatta_flags)
      regatta_effort(${cold} cold)
      regatta_use_headers(${cold} cold)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${cold}>)
    endif()
  endif()
  set(files ${ARG_SOURCES} ${ARG_COLD_SOURCES} ${ARG_HEADERS})
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY regatta_library_files ${files})
  add_library(regatta::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_17)
  foreach(folder IN LISTS ARG_HEADERS ITEMS .)
    get_filename_component(folder ${folder}/include ABSOLUTE)
    if(EXISTS ${folder})
      target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${folder}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
      install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
    endif()
  endforeach()
  target_link_libraries(${target} ${scope} ${ARG_PUBLIC})
  add_dependencies(regatta_installed ${target})
  # A component of the package (RegattaInstall.cmake) and what it needs.
  set_property(GLOBAL APPEND PROPERTY regatta_components ${name})
  set_property(GLOBAL PROPERTY regatta_component_needs_${name} ${ARG_PUBLIC} ${ARG_PRIVATE})
  install(TARGETS ${target} EXPORT regatta-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# regatta_ideas(<pattern>): the folders of this one, named for an idea, in which a file of that name is. CMake looks again
# when there is a new one. They are in the order in which traces and reports have had them since version 1; a new idea
# comes behind these, in alphabetical order.
function(regatta_ideas out file)
  file(GLOB found CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} */${file})
  list(TRANSFORM found REPLACE "/.*" "")
  list(SORT found)
  set(ideas "")
  foreach(idea IN ITEMS regless greener finereg regmutex rfv sharing rfh LISTS found)
    if(idea IN_LIST found AND NOT idea IN_LIST ideas)
      list(APPEND ideas ${idea})
    endif()
  endforeach()
  set(${out} ${ideas} PARENT_SCOPE)
endfunction()

# regatta_idea_registry(<out> <namespace> <registry> <header> <idea>...): writes a source with <registry>::with_builtin(),
# which calls void add_<idea>(<registry>&) of each, and names it in <out>. Generated, because nothing refers to an object
# that registers itself: a static library would leave it out.
function(regatta_idea_registry out namespace registry header)
  set(declarations "")
  set(calls "")
  foreach(idea IN LISTS ARGN)
    string(APPEND declarations "void add_${idea}(${registry}& registry);\n")
    string(APPEND calls "  add_${idea}(registry);\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/of_ideas.cpp @ONLY CONTENT
"// Generated from the folders of the ideas.
#include <@header@>

namespace @namespace@ {

@declarations@
@registry@ @registry@::with_builtin() {
  @registry@ registry;
@calls@  return registry;
}

}  // namespace @namespace@
")
  set(${out} ${CMAKE_CURRENT_BINARY_DIR}/of_ideas.cpp PARENT_SCOPE)
endfunction()

# regatta_check_blocks(): no block of this folder (models/<idea>/<block>) is without a library, and so never built: one that has
# no CMakeLists.txt is a part of another folder's library.
function(regatta_check_blocks)
  get_property(used GLOBAL PROPERTY regatta_library_files)
  set(folders "")
  foreach(file IN LISTS used)
    get_filename_component(file ${file} ABSOLUTE)
    list(APPEND folders ${file})
    get_filename_component(file ${file} DIRECTORY)
    list(APPEND folders ${file})
  endforeach()
  file(GLOB blocks CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/*)
  foreach(block IN LISTS blocks)
    if(IS_DIRECTORY ${block} AND NOT EXISTS ${block}/CMakeLists.txt AND NOT block IN_LIST folders)
      message(FATAL_ERROR "${block}: no library has its sources: give it a CMakeLists.txt, or add it to a library of its idea")
    endif()
  endforeach()
endfunction()

# regatta_tool(<name> SOURCES ... LIBS ...): an installed executable with a hyphenated name.
function(regatta_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE regatta_flags ${ARG_LIBS})
  target_compile_definitions(${name} PRIVATE REGATTA_VERSION="${PROJECT_VERSION}")
  add_dependencies(regatta_installed ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endfunction()

# regatta_test(<name> [SYSTEMC] [OPTIMIZED] [REPEATS] [MORE] [PARTS <n>] [COST <seconds>] SOURCES ... LIBS ...): a Catch2
# executable, one test of ctest. Its cases run in one process; with SYSTEMC each in a process of its own, as a SystemC
# program elaborates once. PARTS: as n tests, side by side.
# MORE: it has cases tagged REGATTA_MORE, which are a test of ctest labelled "more" (make test-all).
# OPTIMIZED: the tests themselves compute much. REPEATS: more programs and machines through code that other tests run too;
# not built with sanitizers, under which it takes eight times as long.
# COSIM: needs Verilated blocks; built if REGATTA_COSIM is ON, labelled cosim.
function(regatta_test name)
  cmake_parse_arguments(ARG "SYSTEMC;OPTIMIZED;REPEATS;MORE;COSIM" "COST;PARTS" "SOURCES;LIBS" ${ARGN})
  set(files ${ARG_SOURCES})
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY regatta_test_sources ${files})
  # A test of ctest for which Catch2 finds no case fails, and `make test` does not run those.
  set(tagged FALSE)
  foreach(file ${files})
    file(STRINGS ${file} cases REGEX "REGATTA_MORE" LIMIT_COUNT 1)
    if(cases)
      set(tagged TRUE)
    endif()
  endforeach()
  if(ARG_MORE AND NOT tagged)
    message(FATAL_ERROR "regatta_test(${name} MORE): expected a case tagged REGATTA_MORE in ${ARG_SOURCES}")
  elseif(tagged AND NOT ARG_MORE)
    message(FATAL_ERROR "regatta_test(${name}): has cases tagged REGATTA_MORE, which nothing runs; expected MORE")
  endif()
  if(REGATTA_SANITIZE AND ARG_REPEATS)
    return()
  endif()
  set(label "")
  if(ARG_COSIM)
    if(NOT REGATTA_COSIM STREQUAL "ON")
      return()
    endif()
    set(label cosim)
    set_property(GLOBAL APPEND PROPERTY regatta_cosim_tests ${name})
  endif()
  add_executable(${name} ${ARG_SOURCES})
  # Blocks, passes and other parts alone; those of whole programs, and of files that they read, have a target of their own.
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/(models|platform|compiler)/" AND NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/compiler/tool$")
    list(APPEND label part)
  else()
    list(APPEND label programs)
    set_property(GLOBAL APPEND PROPERTY regatta_tests_of_programs ${name})
  endif()
  if(ARG_SYSTEMC)
    target_link_libraries(${name} PRIVATE regatta_test_systemc_main)
  else()
    target_link_libraries(${name} PRIVATE regatta_test_main)
  endif()
  target_link_libraries(${name} PRIVATE regatta_flags ${ARG_LIBS})
  if(REGATTA_GOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(${name} PRIVATE -fuse-ld=gold)
  endif()
  set(effort test)
  if(ARG_OPTIMIZED)
    set(effort computing_test)
  endif()
  regatta_effort(${name} ${effort})
  set(plain PLAIN)
  if(ARG_SYSTEMC)
    set(plain "")
  endif()
  regatta_use_headers(${name} ${effort} ${plain})
  # Headers take half the time of a test file: eight files share them. File-local names must differ within a target.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests UNITY_BUILD ON
                                           UNITY_BUILD_BATCH_SIZE 8)
  if(NOT ARG_COST)
    set(ARG_COST 120)
  endif()
  if(NOT ARG_PARTS)
    set(ARG_PARTS 1)
  endif()
  # Those that may take long begin first, so that none is left alone at the end. The time limit ends what hangs.
  foreach(part RANGE 1 ${ARG_PARTS})
    set(test ${name})
    if(NOT ARG_PARTS EQUAL 1)
      set(test "${name} ${part}/${ARG_PARTS}")
    endif()
    add_test(NAME "${test}" COMMAND ${name} --part ${part}/${ARG_PARTS})
    set_tests_properties("${test}" PROPERTIES TIMEOUT 1800 COST ${ARG_COST} LABELS "${label}")
    if(ARG_MORE AND NOT REGATTA_SANITIZE)
      add_test(NAME "${test}: more" COMMAND ${name} --part ${part}/${ARG_PARTS} [.more])
      set_tests_properties("${test}: more" PROPERTIES TIMEOUT 1800 COST ${ARG_COST} LABELS more)
    endif()
  endforeach()
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
