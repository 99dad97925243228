# SPDX-License-Identifier: Apache-2.0
# Third-party packages, as targets with one name whatever release of a package is installed.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(spdlog REQUIRED)
find_package(Protobuf REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET GLOBAL libzstd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET GLOBAL libxxhash)
pkg_check_modules(lzma REQUIRED IMPORTED_TARGET GLOBAL liblzma)
find_path(REGATTA_TOMLPP_INCLUDE toml++/toml.h REQUIRED)
# <regatta_tomlpp.h> in place of <toml++/toml.h>.
add_library(regatta_tomlpp INTERFACE)
# The second is dropped by CMake where it is a system directory.
target_include_directories(regatta_tomlpp SYSTEM INTERFACE ${CMAKE_CURRENT_LIST_DIR}/include ${REGATTA_TOMLPP_INCLUDE})
include(${CMAKE_CURRENT_LIST_DIR}/RegattaSystemC.cmake)

if(REGATTA_TESTS)
  find_package(Catch2 3 QUIET)
  if(NOT Catch2_FOUND)
    find_package(Catch2 2 REQUIRED)
  endif()
  include(Catch)
endif()
if(REGATTA_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
