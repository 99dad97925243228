# SPDX-License-Identifier: Apache-2.0
# find_package(regatta): exported targets regatta::trace_types ... regatta::assembly.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/regatta)
install(EXPORT regatta-targets NAMESPACE regatta:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/regatta-config.cmake.in
                              ${CMAKE_BINARY_DIR}/regatta-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/regatta-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/regatta-config.cmake ${CMAKE_BINARY_DIR}/regatta-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/RegattaSystemC.cmake
        DESTINATION ${package_dir})
