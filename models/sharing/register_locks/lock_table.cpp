// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/lock_table.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <string>

namespace regatta::models {

using protocol::WarpSlot;

LockTable::LockTable(const sc_core::sc_module_name& name, support::ClockDomain& clock)
    : sc_module(name), pairs("pairs"), locks("locks"), clock_(clock) {
  locks.bind(*this);
}

void LockTable::kernel_started(const protocol::KernelContext& context) {
  holders_.assign(std::size_t{pairs->plan().pairs} * context.warps_per_cta, nobody);
  held_ = 0;
}

void LockTable::complain(unsigned lock, WarpSlot warp, const char* did, const char* expected) const {
  const std::string holder =
      holders_[lock] == nobody ? "nobody holds" : "warp " + std::to_string(holders_[lock]) + " holds";
  SC_REPORT_ERROR("regatta/register_locks", (std::string(name()) + " in cycle " + std::to_string(clock_.now()) +
                                             ": warp " + std::to_string(warp.value()) + " " + did + " lock " +
                                             std::to_string(lock) + ", which " + holder + "; expected " + expected)
                                                .c_str());
}

void LockTable::take(unsigned lock, WarpSlot warp) {
  if (holders_[lock] != nobody) complain(lock, warp, "takes", "a free lock");
  holders_[lock] = warp.value();
  ++takes_;
  most_held_ = std::max(most_held_, ++held_);
}

void LockTable::give_back(unsigned lock, WarpSlot warp) {
  if (holders_[lock] != warp.value()) complain(lock, warp, "returns", "a lock of its own");
  holders_[lock] = nobody;
  ++returns_;
  --held_;
}

void LockTable::register_stats(support::StatGroup& g) {
  g.counter("takes", takes_, "locks", "taken by warps");
  g.counter("returns", returns_, "locks", "returned at the end of the warp");
  g.counter("held_max", most_held_, "locks", "held at a time, at most");
}

void LockTable::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.lock", takes_);
  g.event("resource_sharing", "resource_sharing.lock", returns_);
}

}  // namespace regatta::models
