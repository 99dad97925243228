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

include(RegattaVerilate)

set(REGATTA_VERILATED OFF)
if(REGATTA_COSIM STREQUAL "OFF")
  message(STATUS "RTL co-simulation: off")
elseif(REGATTA_COSIM STREQUAL "AUTO" AND REGATTA_SANITIZE)
  message(STATUS "RTL co-simulation: off (with sanitizers, REGATTA_COSIM=ON switches it on)")
else()
  regatta_find_verilator(found)
  if(REGATTA_VERILATOR_VERSION)
    set(REGATTA_VERILATED ON)
    message(STATUS "RTL co-simulation: Verilator ${REGATTA_VERILATOR_VERSION}")
  else()
    set(what "expected Verilator 5 (.cmake/setup-packages.sh --cosim installs it), found: ${found}")
    if(REGATTA_COSIM STREQUAL "ON")
      message(FATAL_ERROR "REGATTA_COSIM is ON: ${what}")
    endif()
    message(STATUS "RTL co-simulation: off (${what})")
  endif()
endif()
