// SPDX-License-Identifier: Apache-2.0
//
// A bank of a staging unit: its ports, its lines' lists, and what waits for a port that nobody else uses.
#pragma once

#include <regatta/models/staging/staging_unit.h>
#include <regatta/support/stats.h>

#include "fixed_queue.h"
#include "slot_ports.h"

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

namespace regatta::models {

inline constexpr std::uint16_t no_line = 0xffff;

/// A line's tag and what is to become of it. Its value lies in the shard's table.
struct StagingLine {
  /// free, clean and dirty lines are in the list of that name; owned ones belong to a region; filling ones as well, and
  /// their value is on its way; dropped ones were filling when their warp ended.
  enum class State : std::uint8_t { free, clean, dirty, owned, filling, dropped };

  std::uint64_t available_at = 0;  ///< in a list: the first cycle in which it may be taken
  std::uint16_t warp = 0;          ///< its number in the shard
  std::uint16_t bank = 0;
  std::uint16_t previous = no_line, next = no_line;  ///< in its list
  std::uint8_t reg = 0;
  State state = State::free;
  LastUse fate = LastUse::none;        ///< when no access is outstanding
  std::uint8_t reads = 0, writes = 0;  ///< outstanding
  bool is_dirty = false;               ///< memory does not have this value
  bool is_defined = false;             ///< something was written to it
  std::uint8_t readout = 0;  ///< place of the write-back buffer, plus 1, whose value is still to be read out of here
};

/// Lines in the order in which they came.
class LineList {
 public:
  bool empty() const { return first_ == no_line; }
  std::uint16_t first() const { return first_; }
  std::uint16_t last() const { return last_; }
  void push(std::vector<StagingLine>& lines, std::uint16_t line) {
    lines[line].previous = last_;
    lines[line].next = no_line;
    (last_ == no_line ? first_ : lines[last_].next) = line;
    last_ = line;
  }
  void remove(std::vector<StagingLine>& lines, std::uint16_t line) {
    StagingLine& l = lines[line];
    (l.previous == no_line ? first_ : lines[l.previous].next) = l.next;
    (l.next == no_line ? last_ : lines[l.next].previous) = l.previous;
  }

 private:
  std::uint16_t first_ = no_line, last_ = no_line;
};

/// The banks of a shard lie one behind the other; what every access touches comes first, in one line of the host's
/// cache.
struct alignas(64) StagingBank {
  /// A request of the capacity manager.
  struct Request {
    enum class Kind : std::uint8_t { preload, last_preload, invalidate };
    std::uint64_t since = 0;  ///< cycle in which it came
    protocol::WarpSlot warp;
    protocol::RegisterId reg;
    Kind kind = Kind::preload;
  };
  /// A value that came from memory.
  struct Fill {
    std::uint64_t ready = 0;
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint16_t line = no_line;
    protocol::Supplier supplier = protocol::Supplier::unknown;
  };
  StagingBank(unsigned lines, unsigned buffer) : requests(lines), fills(lines), readouts(buffer) {}

  LineList& list(StagingLine::State state) {
    return state == StagingLine::State::free ? free : state == StagingLine::State::clean ? clean : dirty;
  }

  LineList free, clean, dirty;
  std::uint32_t lines_listed = 0;  ///< how often a line came into a list
  std::uint64_t read_count = 0, write_count = 0, tag_lookups = 0;
  SlotPorts ports;
  std::uint64_t read_conflicts = 0, write_conflicts = 0, read_wait = 0, write_wait = 0;
  FixedQueue<Request> requests;  ///< one place per line (section 5.1)
  FixedQueue<Fill> fills;
  FixedQueue<std::uint8_t> readouts;  ///< places of the write-back buffer whose values are still in their lines
  std::uint64_t fill_count = 0, readout_count = 0;
};

/// A bank's place in the design, and its statistics.
class StagingBankModule : public sc_core::sc_module, public support::StatProvider {
 public:
  StagingBankModule(const sc_core::sc_module_name& name, const StagingBank& bank) : sc_module(name), bank_(bank) {}
  void register_stats(support::StatGroup& group) override;

 private:
  const StagingBank& bank_;
};

}  // namespace regatta::models
