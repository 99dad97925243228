// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/renaming_config.h>

namespace regatta::models {

void RenamingConfig::declare(support::OptionSet& o) {
  o.add("rfv.share", share, "of register_file.registers", "warp registers of the file that is built; RFV halves it");
  o.add("rfv.admission", admission,
        "CTAs that may be resident: as many as threads, slots and shared memory allow, so that warps wait for rows; or "
        "as many as may have the most rows of each at once, so that none waits",
        {"threads", "rows"});
  o.add("rfv.flag_cache_entries", flag_cache_entries, "words", "release flags (pir words) in the flag cache; 0: none",
        0, 1024);
  o.add(
      "rfv.metadata", metadata,
      "words of release flags and registers: they occupy code and fetch slots, or cost nothing, as RegLess counts them",
      {"fetched", "free"});
  o.add("rfv.words", words, "words", "decoded words of a warp that wait for their instructions", 1, 64);
  o.add("rfv.rename_cycles", rename_cycles, "cycles", "of renaming, by which every operand read takes longer", 0, 16);
  o.add("rfv.subarray_rows", subarray_rows, "rows", "rows of a bank that are powered together", 1, 1 << 20);
  o.add("rfv.gated_leakage", gated_leakage, "of a powered sub-array", "leakage of a sub-array without a live row");
  o.add("rfv.spill", spill,
        "a file that does not hold the registers of one CTA is accepted if it holds those of one warp: registers of "
        "warps that wait go to memory");
  o.add("rfv.spill_entries", spill_entries, "warp registers",
        "on their way between the file and memory at a time, with rfv.spill", 1, 256);
}

RegisterFileConfig RenamingConfig::file_of(const RegisterFileConfig& machine) const {
  RegisterFileConfig built = machine;
  built.registers = static_cast<unsigned>(share * machine.registers) / machine.banks * machine.banks;
  return built;
}

void RenamingConfig::validate(const RegisterFileConfig& machine) const {
  if (!(share > 0 && share <= 1)) {
    throw support::ConfigError("configuration: rfv.share = " + std::to_string(share) +
                               ", expected more than 0 and at most 1");
  }
  if (!(gated_leakage >= 0 && gated_leakage <= 1)) {
    throw support::ConfigError("configuration: rfv.gated_leakage = " + std::to_string(gated_leakage) +
                               ", expected 0 to 1");
  }
  if (spill && machine.shared_port() && machine.priority != "fcfs") {
    throw support::ConfigError("configuration: register_file.priority = " + machine.priority +
                               ", expected fcfs with rfv.spill: banks that registers are moved from have no other");
  }
  if (file_of(machine).registers == 0) {
    throw support::ConfigError("configuration: rfv.share = " + std::to_string(share) +
                               " of register_file.registers = " + std::to_string(machine.registers) +
                               " leaves no row in each of register_file.banks = " + std::to_string(machine.banks) +
                               ", expected at least one");
  }
}

}  // namespace regatta::models
