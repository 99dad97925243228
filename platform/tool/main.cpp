// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/tool.h>
#include <regatta/schemes/schemes.h>
#include <systemc>

#ifdef REGATTA_VERILATED
#include <regatta/aging/aging_compression_rtl.h>
#include <regatta/finereg/rmu_rtl.h>
#include <regatta/regless/compressor_rtl.h>
#include <regatta/regless/osu_rtl.h>
#include <regatta/wir/wir_rtl.h>
#endif

int sc_main(int argc, char** argv) {
#ifdef REGATTA_VERILATED
  regatta::models::add_compressor_rtl();
  regatta::models::add_osu_rtl();
  regatta::models::add_rmu_rtl();
  regatta::models::aging::add_aging_compression_rtl();
  regatta::models::wir::add_wir_rtl();
#endif
  return regatta::assembly::run_tool(argc, argv, regatta::schemes::all());
}
