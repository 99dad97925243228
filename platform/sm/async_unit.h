// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies beside the load-store unit: groups of copies, mbarriers, and the engine of bulk copies.
//
// cp.async goes through the load-store unit as a load and takes an entry here until its data lies in shared memory,
// whose banks it occupies when they are free. A bulk copy goes to a queue; the engine makes requests of one descriptor
// at a time, past the L1. A mbarrier counts here what it counts in the program, in the order of this machine's time: a
// wait whose phase is not complete stays until it is.
#pragma once

#include <regatta/support/ring.h>
#include <regatta/support/stats.h>

#include "core.h"
#include "holds.h"

#include <deque>
#include <optional>
#include <string>
#include <systemc>
#include <unordered_map>
#include <vector>

namespace regatta::sm {

class AsyncUnit : public sc_core::sc_module, public support::StatProvider {
 public:
  AsyncUnit(const sc_core::sc_module_name& name, Core& core);
  /// `is_used`: the kernel has asynchronous operations.
  void kernel_started(bool is_used);

  // From the issue stage.
  void issued(const DynamicInstruction& d);
  /// Retired: a copy is complete.
  void released(const DynamicInstruction& d);
  /// Whether the warp's wait for groups holds it.
  bool waits(WarpSlot warp, const trace::StaticInstruction& wait) const;
  /// Memory instructions of the warp that a fence does not wait for.
  unsigned in_flight(WarpSlot warp) const { return warps_[warp.value()].in_flight; }

  // From the load-store unit.
  bool has_copy_entry();
  void copy_begins() { ++copies_; }
  /// All of its lines have come by cycle `when`.
  void copy_arrived(DynamicInstruction& d, Cycle when);
  /// A mbarrier operation takes effect; `done` is when its result is there. False: it waits for a phase.
  bool on_barrier(DynamicInstruction& d, Cycle done);
  bool has_bulk_entries(unsigned count);
  void bulk_begins(DynamicInstruction& d);
  /// A line of a bulk copy has come, or has been written.
  void bulk_answered(DynamicInstruction& d, Cycle when, Cycle& shared_free);
  bool is_busy() const { return !arrived_.empty() || engine_.instruction != nullptr || !queue_.empty(); }
  /// Writes copies into shared memory; the engine goes on. True: it has a line to send, line().
  bool cycle(Cycle& shared_free);
  struct Line {
    DynamicInstruction* instruction = nullptr;
    std::uint64_t address = 0;
    std::uint8_t sectors = 0;
    bool writes = false;
    bool atomic = false;
  };
  const Line& line() const { return line_; }
  void line_sent();

  std::optional<Hold> holds(const DynamicInstruction& d) const;
  const std::uint64_t& shared_passes() const { return shared_passes_; }
  void register_stats(support::StatGroup& group) override;

 private:
  struct Barrier {
    std::int64_t pending = 0, expected = 0, bytes = 0;
    bool parity = false;
  };
  using Barriers = std::unordered_map<std::uint32_t, Barrier>;
  /// An arrival that waits for copies of the warp with numbers below `before`.
  struct Arrival {
    CtaSlot cta;
    std::uint32_t barrier = 0, count = 0;
    std::uint64_t before = 0;
  };
  /// Copies of a warp since the same commit.
  struct Group {
    unsigned open = 0;    ///< not complete
    unsigned unread = 0;  ///< bulk: whose source has not been read
    Cycle read;           ///< bulk: when the last one's is
  };
  struct Groups {
    std::uint64_t first = 0;  ///< number of groups[0]; those before are complete
    std::deque<Group> groups{Group{}};
    std::uint64_t open() const { return first + groups.size() - 1; }
    Group& at(std::uint64_t number) { return groups[number - first]; }
  };
  struct WarpState {
    Groups copies, bulk;
    std::vector<std::uint64_t> unfinished;  ///< numbers of copies, ascending
    std::vector<Arrival> arrivals;
    unsigned in_flight = 0;
  };
  /// What is known of an instruction under way, by its place in the pool.
  struct UnderWay {
    std::uint64_t group = 0, number = 0;
    unsigned unsent = 0;  ///< descriptors that are not all sent
    std::uint64_t moved = 0;
  };
  struct Arrived {
    DynamicInstruction* instruction = nullptr;
    Cycle when;
  };
  struct Engine {
    DynamicInstruction* instruction = nullptr;
    unsigned lane = 0;
    Cycle from;                         ///< its first request
    std::array<std::uint64_t, 4> at{};  ///< row
    std::uint64_t offset = 0;           ///< in the row
    std::uint64_t row_bytes = 0, row = 0;
  };

  UnderWay& under_way(const DynamicInstruction& d) {
    if (under_way_.size() <= d.pool_index) under_way_.resize(d.pool_index + 1);
    return under_way_[d.pool_index];
  }
  Barriers& barriers(CtaSlot cta) {
    if (barriers_.size() <= cta.value()) barriers_.resize(cta.value() + 1);
    return barriers_[cta.value()];
  }
  static std::uint64_t list(const DynamicInstruction& d, unsigned number, unsigned lane) {
    return d.texel(number)[lane];
  }
  static void shrink(Groups& g);
  void settle(CtaSlot cta, Barrier& b, Cycle when);
  bool is_over(const DynamicInstruction& d);
  void wake_waiting(CtaSlot cta, Cycle when);
  void arrive_behind_copies(WarpState& w);
  void finish(DynamicInstruction& d, Cycle when);
  void start_descriptor(Cycle& shared_free);
  bool next_line();
  void begin_row();
  bool next_row();
  void descriptor_sent();
  void finish_bulk(DynamicInstruction& d, Cycle when, Cycle& shared_free);
  unsigned passes(std::uint64_t bytes) const {
    const unsigned row = core_.config.shared_banks * 4;
    return static_cast<unsigned>((bytes + row - 1) / row);
  }

  Core& core_;
  std::vector<WarpState> warps_;
  std::vector<Barriers> barriers_;                              ///< per CTA slot
  std::vector<DynamicInstruction*> waiting_;                    ///< for phases
  std::vector<UnderWay> under_way_;                             ///< by pool index
  std::deque<Arrived> arrived_;                                 ///< copies whose data goes into shared memory
  std::deque<std::pair<DynamicInstruction*, unsigned>> queue_;  ///< descriptors: instruction and lane
  Engine engine_;
  Line line_;
  unsigned copies_ = 0, bulk_ = 0;
  std::uint64_t next_number_ = 0;

  std::uint64_t copy_instructions_ = 0, copy_refusals_ = 0, bulk_loads_ = 0, bulk_stores_ = 0, bulk_refusals_ = 0,
                bulk_lines_ = 0, bulk_sectors_ = 0, bulk_bytes_ = 0, barrier_instructions_ = 0, barrier_waits_ = 0,
                phases_ = 0, wait_cycles_ = 0, shared_passes_ = 0;
};

}  // namespace regatta::sm
