// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/sharing/sharing.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The lock table of scratchpad sharing (Jatala, thesis, section 2.4.2): for every pair of CTAs, which of the two has
/// access to the common part of shared memory. Empty at the start of a launch.
class ScratchpadLockTable final : public sc_core::sc_module,
                                  public protocol::LifecycleListener,
                                  public ScratchpadLocks,
                                  public support::StatProvider {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  sc_core::sc_export<ScratchpadLocks> locks;

  ScratchpadLockTable(const sc_core::sc_module_name& name, support::ClockDomain& clock);

  void kernel_started(const protocol::KernelContext& context) override;

  std::optional<protocol::CtaSlot> holder(unsigned pair) const override { return holders_[pair]; }
  void take(unsigned pair, protocol::CtaSlot cta) override;
  void give_back(unsigned pair, protocol::CtaSlot cta) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  [[gnu::noinline, gnu::cold]] void complain(unsigned pair, protocol::CtaSlot cta, const char* did,
                                             const char* expected) const;

  support::ClockDomain& clock_;
  std::vector<std::optional<protocol::CtaSlot>> holders_;  ///< by pair
  std::uint64_t takes_ = 0, returns_ = 0;
};

}  // namespace regatta::models
