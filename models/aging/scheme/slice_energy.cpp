// SPDX-License-Identifier: Apache-2.0
#include "slice_energy.h"

namespace regatta::schemes {

namespace {
constexpr double slice_bytes = 65536;
constexpr double row_bytes = 256;
constexpr double pj_per_nj = 1000;
}  // namespace

void SliceEnergyConfig::declare(support::OptionSet& o) {
  const auto add = [&](const char* name, double& value, const char* unit, const char* help) {
    o.add(std::string("slice_energy.") + name, value, unit, help);
  };
  add("read", read_pj, "pJ", "energy of reading 64 bytes of a slice (aging paper, Table 2)");
  add("write", write_pj, "pJ", "energy of writing 64 bytes of a slice (Table 2)");
  add("leakage", leakage_mw, "mW", "leakage of 64 KB of rows that are on (Table 2)");
  add("table_read", table_read_pj, "pJ", "energy of reading an entry of a compression table (Table 2)");
  add("table_write", table_write_pj, "pJ", "energy of writing an entry of a compression table (Table 2)");
  add("wakeup", wakeup_pj, "pJ", "energy of waking a row of 256 bytes (5.1.3)");
  add("rc_compression", rc.compression_pj, "pJ", "energy of compressing a sub-wavefront (Table 2)");
  add("rc_decompression", rc.decompression_pj, "pJ", "energy of decompressing a sub-wavefront (Table 2)");
  add("rc_leakage", rc.leakage_mw, "mW",
      "leakage of a slice's table, compression unit and two decompression units (Table 2)");
  add("wc_compression", wc.compression_pj, "pJ", "energy of compressing a sub-wavefront (Table 3)");
  add("wc_decompression", wc.decompression_pj, "pJ", "energy of decompressing a sub-wavefront (Table 3)");
  add("wc_leakage", wc.leakage_mw, "mW", "leakage of a slice's compression unit and two decompression units (Table 3)");
}

void SliceEnergyConfig::validate() const {
  const auto check = [](const char* knob, double value) {
    if (value >= 0 && value <= 1e9) return;
    throw support::ConfigError("configuration: slice_energy." + std::string(knob) + " = " + std::to_string(value) +
                               ", expected 0 to 1000000000");
  };
  check("read", read_pj);
  check("write", write_pj);
  check("leakage", leakage_mw);
  check("table_read", table_read_pj);
  check("table_write", table_write_pj);
  check("wakeup", wakeup_pj);
  check("rc_compression", rc.compression_pj);
  check("rc_decompression", rc.decompression_pj);
  check("rc_leakage", rc.leakage_mw);
  check("wc_compression", wc.compression_pj);
  check("wc_decompression", wc.decompression_pj);
  check("wc_leakage", wc.leakage_mw);
}

SliceEnergy slice_energy(const SliceEnergyConfig& c, const LogicEnergy* logic, const SliceEvents& e, double cycle_ns) {
  SliceEnergy all;
  // mW x ns = pJ.
  all.slice_leakage = e.leaking_bytes / slice_bytes * c.leakage_mw * cycle_ns / pj_per_nj;
  all.slice_dynamic = (e.slice_reads * c.read_pj + e.slice_writes * c.write_pj) / pj_per_nj;
  all.wakeup = e.woken_bytes / row_bytes * c.wakeup_pj / pj_per_nj;
  if (logic == nullptr) return all;
  all.logic_leakage = e.slice_cycles * logic->leakage_mw * cycle_ns / pj_per_nj;
  // A refresh reads an entry and writes it back.
  all.logic_dynamic =
      (e.compressions * logic->compression_pj + e.decompressions * logic->decompression_pj +
       (e.table_reads + e.refreshes) * c.table_read_pj + (e.table_writes + e.refreshes) * c.table_write_pj) /
      pj_per_nj;
  return all;
}

}  // namespace regatta::schemes
