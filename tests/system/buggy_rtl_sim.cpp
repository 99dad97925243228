// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with RTL that has a bug, of the compressor (--compressor.implementation buggy_rtl, or buggy_lockstep) and
// of FineReg's register management unit (--rmu.implementation, the same).
#include <regatta/assembly/tool.h>
#include <regatta/models/compressor_rtl/compressor_pins.h>
#include <regatta/models/compressor_rtl/compressor_rtl.h>
#include <regatta/models/register_management_rtl/register_management_pins.h>
#include <regatta/models/register_management_rtl/register_management_rtl.h>
#include <regatta/schemes/schemes.h>
#include <systemc>

#include "expander_bug_offset.h"
#include "rmu_bug_chain_link.h"

int sc_main(int argc, char** argv) {
  using namespace regatta;
  const auto expander = [](unsigned) { return models::expander_pins_of<expander_bug_offset>(); };
  models::compressor_implementations()["buggy_rtl"] = models::rtl_units(models::matcher_rtl, expander);
  models::compressor_implementations()["buggy_lockstep"] = models::lockstep_units(models::matcher_rtl, expander);
  models::add_rmu_twins(models::rmu_twins(), models::rmu_pins_of<rmu_bug_chain_link>(), "buggy_");
  return assembly::run_tool(argc, argv, schemes::all());
}
