// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/scratchpad_lock_table.h>

#include <regatta/support/energy.h>

#include <string>

namespace regatta::models {

using protocol::CtaSlot;

ScratchpadLockTable::ScratchpadLockTable(const sc_core::sc_module_name& name, support::ClockDomain& clock)
    : sc_module(name), pairs("pairs"), locks("locks"), clock_(clock) {
  locks.bind(*this);
}

void ScratchpadLockTable::kernel_started(const protocol::KernelContext&) {
  holders_.assign(pairs->plan().pairs, std::nullopt);
}

void ScratchpadLockTable::complain(unsigned pair, CtaSlot cta, const char* did, const char* expected) const {
  const std::string holder =
      holders_[pair] ? "CTA slot " + std::to_string(holders_[pair]->value()) + " holds" : "nobody holds";
  SC_REPORT_ERROR(
      "regatta/scratchpad_locks",
      (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": CTA slot " + std::to_string(cta.value()) +
       " " + did + " the lock of pair " + std::to_string(pair) + ", which " + holder + "; expected " + expected)
          .c_str());
}

void ScratchpadLockTable::take(unsigned pair, CtaSlot cta) {
  if (holders_[pair]) complain(pair, cta, "takes", "a free lock");
  holders_[pair] = cta;
  ++takes_;
}

void ScratchpadLockTable::give_back(unsigned pair, CtaSlot cta) {
  if (holders_[pair] != cta) complain(pair, cta, "returns", "a lock of its own");
  holders_[pair].reset();
  ++returns_;
}

void ScratchpadLockTable::register_stats(support::StatGroup& g) {
  g.counter("takes", takes_, "locks", "taken by CTAs");
  g.counter("returns", returns_, "locks", "returned, at a release or at the end of the CTA");
}

void ScratchpadLockTable::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.lock", takes_);
  g.event("resource_sharing", "resource_sharing.lock", returns_);
}

}  // namespace regatta::models
