// SPDX-License-Identifier: Apache-2.0
//
// The owner table of resource sharing (Jatala, thesis, sections 2.3.1 and 2.4.1).
#pragma once

#include <regatta/protocol/sm_control.h>
#include <regatta/sharing/sharing.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <systemc>
#include <vector>

namespace regatta::models {

/// A bit per warp: whether its CTA is the owner of its pair. A CTA becomes the owner when it is launched into a pair
/// without one, when it takes a lock, and when its partner ends. Beside an owner that has released what the two share,
/// a CTA has the role of one that shares nothing. The priority class of every resident warp follows (WarpRole).
class OwnerTable final : public sc_core::sc_module,
                         public protocol::LifecycleListener,
                         public CtaOwners,
                         public support::StatProvider {
 public:
  sc_core::sc_port<CtaPairs> pairs;
  /// Blocks that hold back the warps of non-owners.
  sc_core::sc_port<OwnerListener, 0, sc_core::SC_ZERO_OR_MORE_BOUND> listeners;
  sc_core::sc_export<CtaOwners> owners;

  explicit OwnerTable(const sc_core::sc_module_name& name);

  void end_of_elaboration() override { pairs_ = pairs.operator->(); }
  void attach(protocol::SmControl& control) override { control_ = &control; }
  void kernel_started(const protocol::KernelContext& context) override;
  void cta_launched(const protocol::CtaInfo& cta) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  void cta_finished(const protocol::CtaInfo& cta) override;

  WarpRole role(protocol::CtaSlot cta) const override { return ctas_[cta.value()].role; }
  void took(protocol::CtaSlot cta) override;
  void released(protocol::CtaSlot cta) override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  struct Cta {
    WarpRole role = WarpRole::unshared;
    bool resident = false;
    bool released = false;  ///< it has given up what it shares
  };
  void set_role(protocol::CtaSlot cta, WarpRole role);
  void make_owner(protocol::CtaSlot cta);

  const CtaPairs* pairs_ = nullptr;
  protocol::SmControl* control_ = nullptr;
  unsigned warps_per_cta_ = 1;
  std::vector<Cta> ctas_;    ///< by slot
  std::vector<bool> warps_;  ///< by slot: resident
  std::uint64_t owners_ = 0, transfers_ = 0, takeovers_ = 0, releases_ = 0, ended_ = 0, bits_ = 0;
};

}  // namespace regatta::models
