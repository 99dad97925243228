// SPDX-License-Identifier: Apache-2.0
//
// The levels of RFH (Gebhart et al., MICRO 2011) as hardware decodes them: a byte for each operand of an instruction.
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/trace/rfh.h>

#include <array>
#include <cstdint>
#include <vector>

namespace regatta::models {

/// Bits of an operand's byte, as in the section (regatta/trace/rfh.h).
inline constexpr unsigned level_main = 0x80, level_last = 0x40, level_orf = 0x20, level_orf_entry = 0x07;
/// With level_last: 1 to 3, the bank of a last-result file that is split by operand slot; 0: it is not split.
inline constexpr unsigned level_bank = 0x18, level_bank_shift = 3;
/// The entry of the last-result file that the byte names, which must name it.
inline constexpr unsigned lrf_entry_of(unsigned level) {
  const unsigned bank = (level & level_bank) >> level_bank_shift;
  return bank == 0 ? 0 : bank - 1;
}
/// Entries of the last-result file per thread.
inline unsigned lrf_entries(const trace::RfhPlan& plan) { return plan.split ? trace::lrf_banks : 1; }
inline constexpr bool names_entry(unsigned level) { return (level & (level_last | level_orf)) != 0; }

/// Of one static instruction. Reads are by position in InstructionTraits::reads, writes by destination.
struct OperandLevels {
  std::array<std::uint8_t, trace::max_source_registers> reads{};
  std::array<std::uint8_t, trace::max_destination_registers> writes{};
  std::uint16_t copies = 0;    ///< bit i: read i comes from the main file and is copied to an entry
  std::uint8_t last_read = 0;  ///< the position of the last read
};

/// The levels of a kernel. Throws support::ConfigError, naming the option of regatta-annotate, if it has none.
trace::RfhPlan rfh_plan_of(const trace::Kernel& kernel);
/// By static index.
std::vector<OperandLevels> operand_levels(const trace::RfhPlan& plan, const protocol::KernelContext& context);

/// An entry as a bit: bits 0 to 2 are the last-result file, bit 3 + k is entry k of the operand register file.
using EntryMask = std::uint16_t;
inline EntryMask entries_of(unsigned level) {
  unsigned mask = (level & level_last) != 0 ? 1u << lrf_entry_of(level) : 0;
  if ((level & level_orf) != 0) mask |= 1u << (trace::lrf_banks + (level & level_orf_entry));
  return static_cast<EntryMask>(mask);
}

}  // namespace regatta::models
