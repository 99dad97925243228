// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with a compressor's RTL that has a bug: --compressor.implementation buggy_rtl, or buggy_lockstep.
#include <regatta/assembly/tool.h>
#include <regatta/models/compressor_rtl/compressor_pins.h>
#include <regatta/models/compressor_rtl/compressor_rtl.h>
#include <regatta/schemes/schemes.h>
#include <systemc>

#include "expander_bug_offset.h"

int sc_main(int argc, char** argv) {
  using namespace regatta;
  const auto expander = [](unsigned) { return models::expander_pins_of<expander_bug_offset>(); };
  models::compressor_implementations()["buggy_rtl"] = models::rtl_units(models::matcher_rtl, expander);
  models::compressor_implementations()["buggy_lockstep"] = models::lockstep_units(models::matcher_rtl, expander);
  return assembly::run_tool(argc, argv, schemes::all());
}
