// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/register_file_config.h>
#include <regatta/support/config.h>

#include <string>

namespace regatta::models {

/// Knobs of register file virtualisation (RFV: Jeon, Ravi, Kim, Annavaram, MICRO 2015): rfv.*.
struct RenamingConfig {
  double share = 0.5;                 ///< of the machine's register file that is built
  std::string admission = "threads";  ///< CTAs by all limits but registers, or as many as all have their rows ("rows")
  unsigned flag_cache_entries = 10;   ///< pir words; 0: none
  std::string metadata = "fetched";   ///< words occupy code and fetch slots, or cost nothing ("free")
  unsigned words = 4;                 ///< decoded words of a warp that wait for their instructions
  unsigned rename_cycles = 1;         ///< of a read, before its bank access; pipelined
  unsigned subarray_rows = 16;        ///< rows of a bank that are switched together
  double gated_leakage = 0;           ///< of a sub-array without a live row, as a fraction of one with
  bool spill = false;                 ///< registers go to memory if the file does not hold those of one CTA
  unsigned spill_entries = 16;        ///< registers between the file and memory at a time

  /// Banks of the file that is built, its registers a multiple of the banks; set by file_of().
  RegisterFileConfig file;
  unsigned max_warps = 64;  ///< of an SM, for the size of the rename table

  void declare(support::OptionSet& options);
  /// Throws support::ConfigError if not one row of a bank is left.
  void validate(const RegisterFileConfig& machine) const;
  /// The file that is built: `share` of the machine's, in whole rows of all banks.
  RegisterFileConfig file_of(const RegisterFileConfig& machine) const;

  /// Equal parts of the file; a warp's rows lie in one of them. With other mappings than sub_core, every warp uses all
  /// banks, so the file is one part.
  unsigned parts() const { return file.by_sub_core() ? file.sub_cores : 1; }
  unsigned rows_per_part() const { return file.registers / parts(); }
  bool admits_by_rows() const { return admission == "rows"; }
  bool words_are_free() const { return metadata == "free"; }
};

}  // namespace regatta::models
