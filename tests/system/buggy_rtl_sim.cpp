// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with RTL that has a bug: --compressor.implementation buggy_rtl or buggy_lockstep, and the same for the
// blocks of the other knobs.
#include <regatta/aging/aging_compression_rtl.h>
#include <regatta/aging/unit_pins.h>
#include <regatta/assembly/tool.h>
#include <regatta/finereg/rmu_pins.h>
#include <regatta/finereg/rmu_rtl.h>
#include <regatta/regless/compressor_pins.h>
#include <regatta/regless/compressor_rtl.h>
#include <regatta/schemes/schemes.h>
#include <systemc>

#include "decompression_bug_unit_count.h"
#include "expander_bug_offset.h"
#include "rmu_bug_chain_link.h"

int sc_main(int argc, char** argv) {
  using namespace regatta;
  const auto expander = [](unsigned) { return models::expander_pins_of<expander_bug_offset>(); };
  models::compressor_implementations()["buggy_rtl"] = models::rtl_units(models::matcher_rtl, expander);
  models::compressor_implementations()["buggy_lockstep"] = models::lockstep_units(models::matcher_rtl, expander);
  models::add_rmu_twins(models::rmu_twins(), models::rmu_pins_of<rmu_bug_chain_link>(), "buggy_");
  models::aging::add_unit_twins(models::aging::compression_rtl(),
                                models::aging::decompression_pins_of<decompression_bug_unit_count>(), "buggy_");
  return assembly::run_tool(argc, argv, schemes::all());
}
