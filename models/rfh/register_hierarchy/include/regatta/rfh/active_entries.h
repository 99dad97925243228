// SPDX-License-Identifier: Apache-2.0
//
// Which warps have entries of the operand register file and the last-result file (RFH: Gebhart et al., MICRO 2011).
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/rfh/entry_file.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The slot of entries that a warp has: for the register file in every access to an entry, and for the strand gate.
class EntrySlots : public virtual sc_core::sc_interface {
 public:
  static constexpr unsigned none = ~0u;
  /// Of the warp; `none`: it has no entries.
  virtual unsigned slot(protocol::WarpSlot warp) const = 0;
  /// The warp's entries hold nothing from now on.
  virtual void strand_begins(protocol::WarpSlot warp) = 0;
};

/// A warp has a slot while it is in the active set of its scheduler. Under a scheduler without an active set, a warp
/// has one from its start to its end. Whatever leaves a slot is lost.
class ActiveEntries final : public sc_core::sc_module,
                            public protocol::LifecycleListener,
                            public EntrySlots,
                            public support::StatProvider {
 public:
  sc_core::sc_export<EntrySlots> slots;
  sc_core::sc_port<ThreadEntries, 2> files;

  /// `count`: slots of the SM. `active_set`: the scheduler has one, and reports it.
  ActiveEntries(const sc_core::sc_module_name& name, unsigned count, bool active_set, support::ClockDomain& clock);

  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void active_set_changed(const protocol::WarpInfo& warp, bool inside) override;
  void cta_switched(const protocol::CtaInfo& cta, bool active) override;
  void warp_finished(const protocol::WarpInfo& warp) override;

  unsigned slot(protocol::WarpSlot warp) const override { return slot_of_[warp.value()]; }
  void strand_begins(protocol::WarpSlot warp) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;
  /// Of the table: a slot number and a bit for each warp.
  std::uint64_t bits(unsigned warps) const;

 private:
  void take(protocol::WarpSlot warp);
  void give_back(protocol::WarpSlot warp);
  void lose(unsigned slot);

  support::ClockDomain& clock_;
  const unsigned count_;
  const bool active_set_;
  std::vector<unsigned> slot_of_;  ///< by warp slot
  std::vector<unsigned> free_;
  std::vector<std::uint64_t> since_;  ///< by slot
  std::uint64_t given_ = 0, returned_ = 0, slot_cycles_ = 0, most_ = 0;
};

}  // namespace regatta::models
