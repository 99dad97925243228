// SPDX-License-Identifier: Apache-2.0
//
// The run-time lookup table (Jatala, thesis, sections 4.2.3 and 4.2.4): per warp, the registers of instructions that
// are decoded and not yet written back. A register that one of them accesses is not worth switching.
#pragma once

#include <regatta/models/greener/power_plan.h>

#include <cstdint>
#include <vector>

namespace regatta::models {

/// Entries are instances of instructions, by their place in the warp's program order, so that the next round of a loop
/// counts as another instruction, which a comparison of program counters alone would miss. A table that is full does
/// not take the newest.
class LookupTable {
 public:
  /// `entries` per warp, at least 1.
  LookupTable(unsigned warps, unsigned entries);

  /// The warps have no entries; `plans` say what registers an entry names, and outlive the table's use.
  void start(const std::vector<PowerPlan>& plans);
  void clear(unsigned warp);
  /// At decode, in program order.
  void insert(unsigned warp, std::uint64_t sequence, std::uint32_t instruction, std::uint64_t now);
  /// After write-back; an instance without an entry is passed over.
  void remove(unsigned warp, std::uint64_t sequence, std::uint64_t now);
  /// Whether an instance other than `sequence` accesses the register; with `younger`, one behind it.
  bool finds(unsigned warp, std::uint64_t sequence, protocol::RegisterId reg, bool younger) const {
    const Entry* e = &entries_[std::size_t{warp} * size_];
    for (const Entry* end = e + held_[warp]; e != end; ++e) {
      if (younger ? e->sequence <= sequence : e->sequence == sequence) continue;
      const protocol::GeneralRegisters& named = (*plans_)[e->instruction].recorded;
      if (((named[reg.value() >> 6] >> (reg.value() & 63)) & 1) != 0) return true;
    }
    return false;
  }
  unsigned held(unsigned warp) const { return held_[warp]; }

  const std::uint64_t& inserted() const { return inserted_; }
  const std::uint64_t& overflows() const { return overflows_; }
  const std::uint64_t& entry_cycles() const { return entry_cycles_; }

 private:
  struct Entry {
    std::uint64_t sequence = 0;
    std::uint64_t since = 0;
    std::uint32_t instruction = 0;
  };
  unsigned size_;
  std::vector<Entry> entries_;  ///< `size_` per warp, the first held_ of them in use, in no order
  std::vector<std::uint8_t> held_;
  const std::vector<PowerPlan>* plans_ = nullptr;
  std::uint64_t inserted_ = 0, overflows_ = 0, entry_cycles_ = 0;
};

}  // namespace regatta::models
