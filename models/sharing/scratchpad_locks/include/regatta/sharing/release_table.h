// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/sharing/sharing.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The active bits A_i and release bits R_i of the threads of every CTA, and the AND over A_i -> R_i
/// (Jatala, thesis, section 3.2.2, figure 3.5). Threads that do not exist are not active.
class ReleaseTable final : public sc_core::sc_module,
                           public protocol::LifecycleListener,
                           public ReleaseBits,
                           public support::StatProvider {
 public:
  sc_core::sc_export<ReleaseBits> bits;

  explicit ReleaseTable(const sc_core::sc_module_name& name);

  void kernel_started(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override;
  void warp_started(const protocol::WarpInfo& warp) override;

  void set(protocol::WarpSlot warp, protocol::LaneMask lanes) override;
  bool all_set(protocol::CtaSlot cta) const override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  struct Warp {
    protocol::LaneMask active = 0, released = 0;
  };
  unsigned warps_per_cta_ = 1;
  std::vector<Warp> warps_;  ///< by slot
  std::uint64_t writes_ = 0;
};

}  // namespace regatta::models
