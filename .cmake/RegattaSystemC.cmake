# SPDX-License-Identifier: Apache-2.0
# regatta::systemc, from SystemC's own CMake package (SystemC 3 and Accellera builds) or from pkg-config (Debian).
# Installed beside the package configuration, so that a consumer finds SystemC the same way.
if(NOT TARGET regatta::systemc)
  find_package(SystemCLanguage CONFIG QUIET)
  add_library(regatta_systemc INTERFACE IMPORTED GLOBAL)
  if(SystemCLanguage_FOUND)
    set_property(TARGET regatta_systemc PROPERTY INTERFACE_LINK_LIBRARIES SystemC::systemc)
  else()
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(regatta_pc_systemc REQUIRED IMPORTED_TARGET GLOBAL systemc)
    set_property(TARGET regatta_systemc PROPERTY INTERFACE_LINK_LIBRARIES PkgConfig::regatta_pc_systemc)
  endif()
  add_library(regatta::systemc ALIAS regatta_systemc)
endif()
