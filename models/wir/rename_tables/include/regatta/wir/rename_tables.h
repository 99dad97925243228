// SPDX-License-Identifier: Apache-2.0
//
// The rename tables (WIR section V-B): a table per warp, an entry per logical register, a half of them per scheduler.
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>
#include <regatta/trace/types.h>
#include <regatta/wir/ports.h>
#include <regatta/wir/references.h>
#include <regatta/wir/rename_entries.h>
#include <regatta/wir/wir_config.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models::wir {

/// An instruction's registers are renamed.
struct RenameRequest {
  protocol::WarpSlot warp;
  std::uint8_t scheduler = 0;
  std::uint8_t sources = 0;       ///< 0 to 6
  std::uint8_t destinations = 0;  ///< whose entries are read as well
  std::array<protocol::RegisterId, trace::max_source_registers> registers{};
};
/// The entries as of the cycle in which the request was accepted, which was in program order. The instruction owns a
/// hold on each valid one (References::hold).
struct RenamedSources {
  std::array<RenameEntry, trace::max_source_registers> entries;
  /// For the registers beyond the ports of a cycle: the half takes the next request this many cycles later than in the
  /// cycle after this one.
  unsigned further_cycles = 0;
};

/// What stages do to the tables besides.
class RenameAccess : public virtual sc_core::sc_interface {
 public:
  /// The entries as they are in the present cycle, for decisions that need no port; valid for the whole run.
  virtual const RenameEntries& view() const = 0;
  /// Books the write port of the half for one register; returns its cycle, the present one or later.
  virtual std::uint64_t book_write(unsigned scheduler) = 0;
  /// An instruction retires: the entry takes over its reference to `entry.reg`. `same`: the register stays, and there
  /// is no further reference.
  virtual void write(protocol::WarpSlot warp, protocol::RegisterId reg, const RenameEntry& entry, bool same) = 0;
};

class RenameTables : public sc_core::sc_module,
                     public RenameAccess,
                     public ReferenceKeeper,
                     public protocol::Lookup<RenameRequest, RenamedSources>,
                     public protocol::LifecycleListener,
                     public support::StatProvider {
 public:
  protocol::LookupTarget<RenameRequest, RenamedSources> lookups;
  sc_core::sc_export<RenameAccess> access;
  sc_core::sc_export<ReferenceKeeper> keeper;
  sc_core::sc_port<References> references;

  RenameTables(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock);

  protocol::LookupReply look_up(const RenameRequest& request, std::uint32_t, RenamedSources& sources) override {
    reads_ += request.sources + request.destinations;
    sources.further_cycles = 0;
    const unsigned registers = unsigned{request.sources} + request.destinations;
    if (__builtin_expect(static_cast<int>(registers > ports_), 0) != 0) {
      sources.further_cycles = (registers - 1) / ports_;
      ++long_renames_;
    }
    std::array<PhysicalRegister, trace::max_source_registers> regs;
    const RenameEntry* const entries = entries_.of(request.warp);
    for (unsigned i = 0; i < request.sources; ++i) {
      sources.entries[i] = entries[request.registers[i].value()];
      regs[i] = sources.entries[i].reg;
    }
    references_->hold(regs.data(), request.sources);
    return protocol::LookupReply::answered;
  }
  /// Never notified: how long a half is busy follows from the answer.
  const sc_core::sc_event& changed() const override { return changed_; }
  const RenameEntries& view() const override { return entries_; }
  std::uint64_t book_write(unsigned scheduler) override { return write_ports_[scheduler].take(clock_.now()); }
  void write(protocol::WarpSlot warp, protocol::RegisterId reg, const RenameEntry& entry, bool same) override {
    RenameEntry& e = entries_.at(warp, reg);
    const PhysicalRegister before = e.reg;
    e = entry;
    ++writes_;
    if (!same) references_->replace(before, entry.reg);
  }
  void count(ReferenceCounts& counts) const override;

  void end_of_elaboration() override { references_ = references.operator->(); }
  void kernel_started(const protocol::KernelContext& context) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  const unsigned max_warps_;
  const unsigned ports_;  ///< reads of a half per cycle
  support::ClockDomain& clock_;
  References* references_ = nullptr;
  RenameEntries entries_;
  std::vector<Ports> write_ports_;  ///< by scheduler
  std::uint64_t reads_ = 0, writes_ = 0, long_renames_ = 0;
  sc_core::sc_event changed_;
};

}  // namespace regatta::models::wir
