// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/rename_tables.h>

#include <regatta/support/energy.h>

#include <algorithm>

namespace regatta::models::wir {

RenameTables::RenameTables(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock)
    : sc_module(name),
      lookups("lookup", *this),
      access("access"),
      keeper("keeper"),
      references("references"),
      max_warps_(config.max_warps),
      ports_(config.rename_ports),
      clock_(clock),
      write_ports_(config.schedulers, Ports(1)) {
  access.bind(*this);
  keeper.bind(*this);
}

void RenameTables::kernel_started(const protocol::KernelContext& context) {
  // A table for each slot, since tables are laid out by slot.
  entries_.reset(max_warps_, std::max(1u, context.kernel->registers_per_thread));
}

void RenameTables::warp_finished(const protocol::WarpInfo& warp) {
  references_->settle();
  entries_.clear(warp.warp, [this](PhysicalRegister reg) { references_->release(reg); });
}

void RenameTables::count(ReferenceCounts& counts) const {
  for (const RenameEntry& e : entries_.entries()) counts.add(e.reg);
}

void RenameTables::register_stats(support::StatGroup& g) {
  g.counter("reads", reads_, "entries", "read");
  g.counter("writes", writes_, "entries", "written");
  g.counter("long_renames", long_renames_, "warp instructions", "with more registers than the ports read in a cycle");
}

void RenameTables::register_energy(support::EnergyGroup& g) {
  g.event("reuse_structures", "wir.rename_table", reads_);
  g.event("reuse_structures", "wir.rename_table", writes_);
}

}  // namespace regatta::models::wir
