// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/sharing/sharing.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The deadlock rule of register sharing (Jatala, thesis, section 2.2.3): all locks of a pair of CTAs are held by one
/// of the two. Two counters per pair: locks that warps of either CTA hold. A warp may take a lock while its partner's
/// CTA holds none.
/// To whom a free lock is granted.
enum class LockGrant : std::uint8_t {
  cta,    ///< to warps of a CTA whose partner holds none: locks of a pair are those of one CTA (section 2.2.3)
  warp,   ///< also to the owner's warps, and to a warp whose own partner has ended (sections 2.3.3 and 2.5.1.6)
  always  ///< to every warp, which may deadlock
};

class PairLockRule final : public sc_core::sc_module,
                           public protocol::LifecycleListener,
                           public LockRule,
                           public support::StatProvider {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  sc_core::sc_export<LockRule> rule;

  PairLockRule(const sc_core::sc_module_name& name, LockGrant grant, support::ClockDomain& clock);

  void kernel_started(const protocol::KernelContext& context) override;

  bool may_take(const LockClaim& claim) const override {
    return grant_ == LockGrant::always || (grant_ == LockGrant::warp && follows(claim)) ||
           held_[claim.cta.pair][1 - claim.cta.side] == 0;
  }
  bool taken(const LockClaim& claim) override;
  void returned(PairMember cta) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  /// Needs no look at the other side: an owner never waits for those behind it, and a warp behind one that has ended
  /// keeps nobody waiting.
  static bool follows(const LockClaim& claim) { return claim.is_owner || claim.partner_ended; }
  [[gnu::noinline, gnu::cold]] void complain(PairMember cta, const char* did, const char* expected) const;

  support::ClockDomain& clock_;
  const LockGrant grant_;
  std::vector<std::array<unsigned, 2>> held_;  ///< by pair and side: locks
  std::uint64_t taken_ = 0, returned_ = 0;
};

}  // namespace regatta::models
