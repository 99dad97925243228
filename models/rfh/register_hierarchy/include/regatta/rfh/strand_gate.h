// SPDX-License-Identifier: Apache-2.0
//
// Where strands begin (RFH: Gebhart et al., MICRO 2011), and which entries have a result on its way.
#pragma once

#include <regatta/protocol/extension_points.h>
#include <regatta/rfh/active_entries.h>
#include <regatta/rfh/operand_levels.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <utility>
#include <vector>

namespace regatta::models {

/// A warp whose next instruction begins a strand waits until its long-latency results are complete [M]. It is closed
/// until then, so that a scheduler with an active set gives its place to another warp. Its entries are lost when the
/// instruction issues.
///
/// The scoreboard knows registers, not entries: an entry that stood for another register may have that one's result on
/// its way. The gate has a bit for each entry of a warp, and holds an instruction that writes such an entry.
class StrandGate final : public sc_core::sc_module,
                         public protocol::IssueGate,
                         public protocol::GateReporter,
                         public protocol::ActiveSetKeeper,
                         public support::StatProvider {
 public:
  sc_core::sc_port<EntrySlots> slots;

  /// `waits`: for all long-latency results of the warp where a strand begins. Otherwise only the scoreboard waits, and
  /// the warp must not lose its entries while it does: for schedulers without an active set.
  StrandGate(const sc_core::sc_module_name& name, bool waits, support::ClockDomain& clock);

  void end_of_elaboration() override { slots_ = slots.operator->(); }
  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override { warps_[warp.warp.value()] = Warp{}; }
  void active_set_changed(const protocol::WarpInfo& warp, bool inside) override {
    if (!inside) warps_[warp.warp.value()].left = true;
  }

  /// A warp that waits at an inserted instruction of another scheme is in the middle of a strand, where its entries
  /// hold values.
  bool keeps_active(const protocol::WarpInfo&, const protocol::InstructionTraits& next) const override {
    return !next.info->scheme.empty();
  }

  bool may_issue(const protocol::DynamicInstruction& d) override {
    if (d.injected) return true;
    const Static& s = static_[d.traits->index];
    Warp& w = warps_[d.warp.value()];
    if (s.begins && waits_ && w.outstanding != 0) {
      close(d.warp, w);
      return false;
    }
    if ((s.writes & w.pending) == 0) return true;
    ++entry_waits_;
    refused_ = true;
    return false;
  }
  void issued(const protocol::DynamicInstruction& d) override {
    if (d.injected) return;
    const Static& s = static_[d.traits->index];
    Warp& w = warps_[d.warp.value()];
    if (s.begins) {
      ++strands_;
      slots_->strand_begins(d.warp);
    } else if (w.left) {
      ++torn_strands_;
    }
    w.left = false;
    w.pending |= s.results;
    w.outstanding += s.is_long ? 1 : 0;
  }
  void written_back(const protocol::DynamicInstruction& d) override {
    if (d.injected) return;
    const Static& s = static_[d.traits->index];
    Warp& w = warps_[d.warp.value()];
    w.pending &= static_cast<EntryMask>(~s.results);
    if (s.is_long && --w.outstanding == 0 && w.closed) open(d.warp, w);
    if (refused_) {
      refused_ = false;
      changed_.notify();
    }
  }
  const sc_core::sc_event& changed() const override { return changed_; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;
  /// A bit per entry and a counter of loads, for each warp.
  std::uint64_t bits(unsigned warps) const;

 private:
  struct Static {
    EntryMask writes = 0;   ///< entries that copies and results go to
    EntryMask results = 0;  ///< of these, those of results
    bool begins = false;
    bool is_long = false;
  };
  struct Warp {
    EntryMask pending = 0;  ///< entries with a result on its way
    bool closed = false;
    bool left = false;  ///< the active set since it issued last
    unsigned outstanding = 0;
    std::uint64_t since = 0;
  };
  void close(protocol::WarpSlot warp, Warp& w);
  void open(protocol::WarpSlot warp, Warp& w);

  support::ClockDomain& clock_;
  support::CycleEvent changed_;
  const bool waits_;
  EntrySlots* slots_ = nullptr;
  protocol::GateListener* listener_ = nullptr;
  bool refused_ = false;  ///< an instruction, since the last notification
  std::vector<Static> static_;
  std::vector<Warp> warps_;
  unsigned entries_ = 1 + trace::default_orf_entries;  ///< of a warp, in both files
  std::uint64_t strands_ = 0, waits_begun_ = 0, wait_cycles_ = 0, entry_waits_ = 0, torn_strands_ = 0;
};

}  // namespace regatta::models
