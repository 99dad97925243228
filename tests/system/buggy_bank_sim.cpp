// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with staging banks in RTL that have a bug: --osu.implementation buggy_rtl, or buggy_lockstep.
#include <regatta/assembly/tool.h>
#include <regatta/regless/bank_pins.h>
#include <regatta/regless/osu_rtl.h>
#include <regatta/schemes/schemes.h>
#include <systemc>

#include "osu_bank_bug_match.h"

int sc_main(int argc, char** argv) {
  using namespace regatta;
  models::add_bank_twins([](unsigned) { return models::bank_pins_of<osu_bank_bug_match>(); }, "buggy_");
  return assembly::run_tool(argc, argv, schemes::all());
}
