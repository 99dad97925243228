// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/tool.h>
#include <regatta/schemes/schemes.h>
#include <systemc>

#ifdef REGATTA_VERILATED
#include <regatta/models/aging_compression_rtl/aging_compression_rtl.h>
#include <regatta/models/compressor_rtl/compressor_rtl.h>
#include <regatta/models/operand_staging_rtl/operand_staging_rtl.h>
#include <regatta/models/register_management_rtl/register_management_rtl.h>
#include <regatta/models/wir_rtl/wir_rtl.h>
#endif

int sc_main(int argc, char** argv) {
#ifdef REGATTA_VERILATED
  regatta::models::add_compressor_rtl();
  regatta::models::add_operand_staging_rtl();
  regatta::models::add_rmu_rtl();
  regatta::models::aging::add_aging_compression_rtl();
  regatta::models::wir::add_wir_rtl();
#endif
  return regatta::assembly::run_tool(argc, argv, regatta::schemes::all());
}
