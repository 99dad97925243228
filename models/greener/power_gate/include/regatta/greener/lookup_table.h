// SPDX-License-Identifier: Apache-2.0
//
// The run-time lookup table (Jatala, thesis, sections 4.2.3 and 4.2.4): per warp, the registers of instructions that
// are decoded and not yet written back. A register that one of them accesses should not be switched.
#pragma once

#include <regatta/greener/power_plan.h>

#include <cstdint>
#include <vector>

namespace regatta::models {

/// Entries are instances of instructions, identified by their position in the warp's program order, so the next
/// iteration of a loop counts as another instruction; comparing program counters alone would miss it. A full table does
/// not accept the newest.
class LookupTable {
 public:
  /// `entries` per warp, at least 1.
  LookupTable(unsigned warps, unsigned entries);

  /// Clears all entries. `plans` state the registers of an entry and must outlive the use of the table.
  void start(const std::vector<PowerPlan>& plans);
  void clear(unsigned warp);
  /// At decode, in program order.
  void insert(unsigned warp, std::uint64_t sequence, std::uint32_t instruction, std::uint64_t now);
  /// After write-back; an instance without an entry is ignored.
  void remove(unsigned warp, std::uint64_t sequence, std::uint64_t now);
  /// Whether an instance other than `sequence` accesses the register; with `younger`, only a younger one counts.
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
