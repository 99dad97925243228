// SPDX-License-Identifier: Apache-2.0
//
// The compression table of a slice (aging-aware register file, sections 5.1.1 and 5.1.3): an entry per register of the
// slice, valid bit, first component and two logarithms, in dynamic cells that do not age and have to be refreshed.
#pragma once

#include <regatta/aging/delta_code.h>

#include <cstdint>
#include <vector>

namespace regatta::models::aging {

/// Distributed refresh: in every cycle that is a multiple of the period the next entry is refreshed, which takes the
/// write port for that cycle. An entry older than the retention time has lost its charge and reads as not valid.
class CompressionEntries {
 public:
  /// `period` 0: the longest that keeps every entry, retention / entries (section 5.1.3: 119048 / 256 = 465 cycles).
  CompressionEntries(std::uint32_t entries, std::uint64_t retention, std::uint64_t period);

  std::uint64_t refresh_period() const { return period_; }
  /// Refreshes until the end of `cycle`.
  std::uint64_t refreshes(std::uint64_t cycle) const { return cycle / period_; }

  /// Null: the entry is not valid.
  const DeltaCode* find(std::uint32_t entry, std::uint64_t now) const {
    const Entry& e = entries_[entry];
    if (!e.valid || (loses_ && lost(entry, now))) return nullptr;
    return &e.code;
  }
  bool valid(std::uint32_t entry) const { return entries_[entry].valid; }

  /// Both return the cycle in which the port accepts the write: `now`, or later after other writes and a refresh.
  std::uint64_t write(std::uint32_t entry, const DeltaCode& code, std::uint64_t now);
  std::uint64_t clear(std::uint32_t entry, std::uint64_t now);
  /// The entry's register belongs to no warp any more: the valid bits of a window are cleared together, without the
  /// port.
  void invalidate(std::uint32_t entry) { entries_[entry].valid = false; }
  /// All entries invalid, the port free: between launches.
  void reset();

  /// Writes that had to wait for a refresh.
  std::uint64_t refresh_conflicts() const { return refresh_conflicts_; }

 private:
  struct Entry {
    DeltaCode code;
    bool valid = false;
    std::uint64_t written = 0;
  };
  std::uint64_t take_port(std::uint64_t now);
  bool lost(std::uint32_t entry, std::uint64_t now) const;

  std::vector<Entry> entries_;
  std::uint64_t retention_;
  std::uint64_t period_;
  bool loses_;                   ///< a round of refreshes takes longer than the cells keep their charge
  std::uint64_t port_free_ = 0;  ///< first cycle without a write
  std::uint64_t refresh_conflicts_ = 0;
};

}  // namespace regatta::models::aging
