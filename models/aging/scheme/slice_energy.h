// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/config.h>

#include <cstdint>

namespace regatta::schemes {

/// What a compression and two decompression units, and a table where there is one, take.
struct LogicEnergy {
  double compression_pj = 0;  ///< a sub-wavefront
  double decompression_pj = 0;
  double leakage_mw = 0;  ///< of all of a slice's
};

/// The energy of the slices of a register file, split as in Figure 21 of the aging-aware register file, from its Tables
/// 2 and 3 (32 nm, 1 GHz): a slice of 64 KB, accessed by sub-wavefronts of 64 bytes. Other sizes in proportion. Knobs
/// slice_energy.*; stats aging.energy.*, beside the run's own energy, which goes by the machine's table.
struct SliceEnergyConfig {
  double read_pj = 295.86;
  double write_pj = 365.91;
  double leakage_mw = 75.86;  ///< of 64 KB that are on
  double table_read_pj = 1.25;
  double table_write_pj = 66.49;
  double wakeup_pj = 232.88;  ///< of a row of 256 bytes (section 5.1.3)
  LogicEnergy rc{1.10, 0.96, 0.13 + 8.46 + 2 * 8.00};
  LogicEnergy wc{0.76, 0.79, 7.01 + 2 * 8.03};

  void declare(support::OptionSet& options);
  void validate() const;
};

/// What happened in a file.
struct SliceEvents {
  double slice_reads = 0, slice_writes = 0;  ///< sub-wavefronts
  double compressions = 0, decompressions = 0;
  double table_reads = 0, table_writes = 0, refreshes = 0;
  double leaking_bytes = 0;  ///< byte-cycles, of rows that are on and of others by what they leak
  double slice_cycles = 0;   ///< of all slices
  double woken_bytes = 0;
};

/// nJ.
struct SliceEnergy {
  double slice_leakage = 0, logic_leakage = 0, slice_dynamic = 0, logic_dynamic = 0, wakeup = 0;
};
/// `logic`: null where there is no compression.
SliceEnergy slice_energy(const SliceEnergyConfig& config, const LogicEnergy* logic, const SliceEvents& events,
                         double cycle_ns);

}  // namespace regatta::schemes
