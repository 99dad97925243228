// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/lock_rule.h>

#include <regatta/support/energy.h>

#include <string>

namespace regatta::models {

PairLockRule::PairLockRule(const sc_core::sc_module_name& name, LockGrant grant, support::ClockDomain& clock)
    : sc_module(name), pairs("pairs"), rule("rule"), clock_(clock), grant_(grant) {
  rule.bind(*this);
}

void PairLockRule::kernel_started(const protocol::KernelContext&) {
  held_.assign(pairs->plan().pairs, std::array<unsigned, 2>{});
}

void PairLockRule::complain(PairMember cta, const char* did, const char* expected) const {
  const std::array<unsigned, 2>& held = held_[cta.pair];
  SC_REPORT_ERROR(
      "regatta/register_locks",
      (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": side " + std::to_string(cta.side) +
       " of pair " + std::to_string(cta.pair) + " " + did + " a lock, and sides 0 and 1 hold " +
       std::to_string(held[0]) + " and " + std::to_string(held[1]) + "; expected " + expected)
          .c_str());
}

bool PairLockRule::taken(const LockClaim& claim) {
  if (!may_take(claim)) {
    complain(claim.cta, "takes",
             grant_ == LockGrant::warp ? "none on the other side, the pair's owner, or a partner that has ended"
                                       : "none on the other side");
  }
  ++held_[claim.cta.pair][claim.cta.side];
  ++taken_;
  return grant_ != LockGrant::warp || !follows(claim);
}

void PairLockRule::returned(PairMember cta) {
  if (held_[cta.pair][cta.side] == 0) {
    complain(cta, "returns", "at least one on this side");
    return;
  }
  --held_[cta.pair][cta.side];
  ++returned_;
}

void PairLockRule::register_stats(support::StatGroup& g) {
  g.counter("taken", taken_, "locks", "counted when a warp takes one");
  g.counter("returned", returned_, "locks", "counted when a warp returns one");
}

void PairLockRule::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.rule", taken_);
  g.event("resource_sharing", "resource_sharing.rule", returned_);
}

}  // namespace regatta::models
