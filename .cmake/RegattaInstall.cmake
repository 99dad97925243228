# SPDX-License-Identifier: Apache-2.0
# find_package(regatta): exported targets regatta::trace_types ... regatta::assembly. Each library is a component, which asks
# for its own packages only.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/regatta)

# Packages by the target that a library links, as regatta-config.cmake finds them.
set(regatta_package_regatta::systemc systemc)
set(regatta_package_spdlog::spdlog spdlog)
set(regatta_package_Boost::program_options boost)
set(regatta_package_nlohmann_json::nlohmann_json nlohmann_json)
set(regatta_package_protobuf::libprotobuf protobuf)
set(regatta_package_PkgConfig::zstd zstd)
set(regatta_package_PkgConfig::xxhash xxhash)
set(regatta_package_PkgConfig::lzma lzma)
set(regatta_package_Threads::Threads threads)

# regatta_packages_of(<component> <variable>): packages of a component and of all that it links.
function(regatta_packages_of component variable)
  set(open ${component})
  set(seen "")
  set(packages "")
  while(open)
    list(POP_FRONT open next)
    if(next IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${next})
    get_property(needs GLOBAL PROPERTY regatta_component_needs_${next})
    foreach(target IN LISTS needs)
      if(DEFINED regatta_package_${target})
        list(APPEND packages ${regatta_package_${target}})
      elseif(target MATCHES "^regatta::(.*)$")
        list(APPEND open ${CMAKE_MATCH_1})
      else()
        message(FATAL_ERROR "regatta::${next} links ${target}: RegattaInstall.cmake does not know of which package that is")
      endif()
    endforeach()
  endwhile()
  list(REMOVE_DUPLICATES packages)
  set(${variable} ${packages} PARENT_SCOPE)
endfunction()

get_property(regatta_components GLOBAL PROPERTY regatta_components)
list(SORT regatta_components)
set(regatta_component_packages "")
foreach(component IN LISTS regatta_components)
  regatta_packages_of(${component} packages)
  list(JOIN packages " " packages)
  string(APPEND regatta_component_packages "set(_regatta_packages_${component} ${packages})\n")
endforeach()

install(EXPORT regatta-targets NAMESPACE regatta:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/regatta-config.cmake.in
                              ${CMAKE_BINARY_DIR}/regatta-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/regatta-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/regatta-config.cmake ${CMAKE_BINARY_DIR}/regatta-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/RegattaSystemC.cmake ${CMAKE_CURRENT_LIST_DIR}/RegattaVerilate.cmake
        DESTINATION ${package_dir})

# Kernels and a first program. share/regatta has the folders of a checkout: its pages and scripts find each other there as here.
set(share ${CMAKE_INSTALL_DATADIR}/regatta)
install(DIRECTORY traces/kernels DESTINATION ${share}/traces COMPONENT tools PATTERN build_ptx.sh EXCLUDE)
install(DIRECTORY traces/suites DESTINATION ${share}/traces COMPONENT tools FILES_MATCHING PATTERN "*.toml")
install(PROGRAMS examples/quickstart/run.sh DESTINATION ${share}/examples/quickstart COMPONENT tools)
install(FILES examples/quickstart/README.md DESTINATION ${share}/examples/quickstart COMPONENT tools)
install(FILES examples/reproduce/suites/results.csv DESTINATION ${share}/examples/reproduce/suites COMPONENT tools)
