// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with matcher_serial.sv as one more implementation of the compressor's matcher:
//   --compressor.implementation serial16, serial4     16 or 4 lanes per cycle
//                               serial_bug            16, with BUG_WIDTH
//                               ..._lockstep          each in lockstep with the model
#include "serial_pins.h"  // before Verilator's classes

#include <regatta/assembly/tool.h>
#include <regatta/regless/compressor_twins.h>
#include <regatta/schemes/schemes.h>

#include <string>
#include <systemc>

#include "serial16.h"
#include "serial4.h"
#include "serial_bug.h"

namespace {

void add(const std::string& name, const regatta::models::MatcherRtl& matcher) {
  auto& implementations = regatta::models::compressor_implementations();
  // No RTL of an expander: its model stays. 0: the latency is the RTL's own, not that of a knob.
  implementations[name] = regatta::models::rtl_units(matcher, nullptr, 0);
  implementations[name + "_lockstep"] = regatta::models::lockstep_units(matcher, nullptr, 0);
}

}  // namespace

int sc_main(int argc, char** argv) {
  add("serial16", serial::pins<serial16>);
  add("serial4", serial::pins<serial4>);
  add("serial_bug", serial::pins<serial_bug>);
  return regatta::assembly::run_tool(argc, argv, regatta::schemes::all());
}
