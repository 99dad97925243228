// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/sharing/sharing.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The lock table of register sharing (Jatala, thesis, section 2.4.1): for every pair of warps, which of the two has
/// access to the registers that they share. Empty at the start of a launch.
class LockTable final : public sc_core::sc_module,
                        public protocol::LifecycleListener,
                        public RegisterLocks,
                        public support::StatProvider {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  sc_core::sc_export<RegisterLocks> locks;

  LockTable(const sc_core::sc_module_name& name, support::ClockDomain& clock);

  void kernel_started(const protocol::KernelContext& context) override;

  std::optional<protocol::WarpSlot> holder(unsigned lock) const override {
    const std::uint16_t holder = holders_[lock];
    return holder == nobody ? std::nullopt : std::make_optional(protocol::WarpSlot(holder));
  }
  void take(unsigned lock, protocol::WarpSlot warp) override;
  void give_back(unsigned lock, protocol::WarpSlot warp) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  static constexpr std::uint16_t nobody = 0xffff;
  [[gnu::noinline, gnu::cold]] void complain(unsigned lock, protocol::WarpSlot warp, const char* did,
                                             const char* expected) const;

  support::ClockDomain& clock_;
  std::vector<std::uint16_t> holders_;  ///< by lock: warp slot
  std::uint64_t takes_ = 0, returns_ = 0, held_ = 0, most_held_ = 0;
};

}  // namespace regatta::models
