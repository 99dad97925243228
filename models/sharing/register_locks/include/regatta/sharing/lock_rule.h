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
class PairLockRule final : public sc_core::sc_module,
                           public protocol::LifecycleListener,
                           public LockRule,
                           public support::StatProvider {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  sc_core::sc_export<LockRule> rule;

  /// `enforced` false: counts, and lets warps of both CTAs take locks, which may deadlock.
  PairLockRule(const sc_core::sc_module_name& name, bool enforced, support::ClockDomain& clock);

  void kernel_started(const protocol::KernelContext& context) override;

  bool may_take(PairMember cta) const override { return !enforced_ || held_[cta.pair][1 - cta.side] == 0; }
  void taken(PairMember cta) override;
  void returned(PairMember cta) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  [[gnu::noinline, gnu::cold]] void complain(PairMember cta, const char* did, const char* expected) const;

  support::ClockDomain& clock_;
  const bool enforced_;
  std::vector<std::array<unsigned, 2>> held_;  ///< by pair and side: locks
  std::uint64_t taken_ = 0, returned_ = 0;
};

}  // namespace regatta::models
