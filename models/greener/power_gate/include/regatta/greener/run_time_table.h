// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/greener/lookup_table.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Does a decoded instruction of the warp, other than the one asking, access the register?
struct TableQuery {
  protocol::WarpSlot warp;
  protocol::RegisterId reg;
  std::uint64_t sequence = 0;  ///< of the instruction that asks
  bool younger = false;        ///< only younger instructions count
};

/// Writes to the run-time table; posted, each takes effect in its cycle.
class TableUpdates : public virtual sc_core::sc_interface {
 public:
  /// A kernel begins: all entries are cleared. `plans` state the registers of an entry and must outlive the kernel.
  virtual void begin(const std::vector<PowerPlan>& plans) = 0;
  /// An instruction is decoded; in program order per warp.
  virtual void record(protocol::WarpSlot warp, std::uint64_t sequence, std::uint32_t instruction) = 0;
  /// Its results are written.
  virtual void retire(protocol::WarpSlot warp, std::uint64_t sequence) = 0;
  /// The warp has ended.
  virtual void clear(protocol::WarpSlot warp) = 0;
};

/// GREENER's run-time lookup table (Jatala, thesis, sections 4.2.3 and 4.2.4) as a block: lookups are answered in their
/// cycle. The thesis gives it no ports and no energy.
class RunTimeTable : public sc_core::sc_module,
                     public protocol::Lookup<TableQuery, bool>,
                     public TableUpdates,
                     public support::StatProvider {
 public:
  protocol::LookupTarget<TableQuery, bool> lookups;
  sc_core::sc_export<TableUpdates> updates;

  /// `entries` per warp, at least 1.
  RunTimeTable(const sc_core::sc_module_name& name, unsigned warps, unsigned entries, support::ClockDomain& clock)
      : sc_module(name), lookups("lookup", *this), updates("updates"), table_(warps, entries), clock_(clock) {
    updates.bind(*this);
  }

  protocol::LookupReply look_up(const TableQuery& query, std::uint32_t, bool& found) override {
    found = table_.finds(query.warp.value(), query.sequence, query.reg, query.younger);
    return protocol::LookupReply::answered;
  }
  /// Never notified: the table is never busy.
  const sc_core::sc_event& changed() const override { return changed_; }
  void begin(const std::vector<PowerPlan>& plans) override { table_.start(plans); }
  void record(protocol::WarpSlot warp, std::uint64_t sequence, std::uint32_t instruction) override {
    table_.insert(warp.value(), sequence, instruction, clock_.now());
  }
  void retire(protocol::WarpSlot warp, std::uint64_t sequence) override {
    table_.remove(warp.value(), sequence, clock_.now());
  }
  void clear(protocol::WarpSlot warp) override { table_.clear(warp.value()); }

  void register_stats(support::StatGroup& g) override {
    g.counter("entries", table_.inserted(), "entries", "made");
    g.counter("overflows", table_.overflows(), "instructions", "not recorded: the warp's part of the table was full");
    g.counter("entry_cycles", table_.entry_cycles(), "entry-cycles", "from decode to write-back");
  }
  void register_energy(support::EnergyGroup& g) override {
    g.costs_nothing("the thesis does not count the run-time table");
  }

 private:
  LookupTable table_;
  support::ClockDomain& clock_;
  sc_core::sc_event changed_;
};

}  // namespace regatta::models
