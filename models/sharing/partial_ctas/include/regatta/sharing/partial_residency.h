// SPDX-License-Identifier: Apache-2.0
//
// Residency of warp-level divergence (Xiang, Yang, Zhou, HPCA 2014; as Jatala's thesis describes it, section 2.5.1.9):
// one thread block may be resident with a part of its warps.
#pragma once

#include <regatta/baseline/occupancy.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/sharing/warp_room.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/cycle_event.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <optional>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Launches a CTA as soon as there are registers for one of its warps. Those for which there are none wait, and are
/// admitted, the lowest number first, as other warps leave the file. Only one CTA waits for warps at a time; the next
/// CTA is launched when it has all of them. All limits but that of registers hold for whole CTAs.
class PartialResidency final : public sc_core::sc_module, public protocol::Residency, public support::StatProvider {
 public:
  sc_core::sc_port<WarpRoom> room;

  PartialResidency(const sc_core::sc_module_name& name, support::ClockDomain& clock);

  void end_of_elaboration() override { room_ = room.operator->(); }
  bool keeps_cycle_time() const override { return true; }
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override;
  Action next(const View& view) override;
  bool follows_stalls() const override { return false; }
  bool follows_warps() const override { return true; }
  const sc_core::sc_event& changed() const override { return changed_; }
  void cta_launched(const protocol::CtaInfo& cta) override;
  void warp_started(const protocol::WarpInfo& warp) override;

  /// The CTA that has not all of its warps.
  std::optional<protocol::CtaSlot> partial() const { return partial_; }

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 private:
  /// Of a CTA that would take this slot: how many of its warps there are registers for.
  unsigned warps_with_room(protocol::CtaSlot cta) const;
  protocol::WarpSlot warp(protocol::CtaSlot cta, unsigned i) const {
    return protocol::WarpSlot(static_cast<protocol::WarpSlot::rep>(cta.value() * warps_per_cta_ + i));
  }
  Action admit() const;

  support::ClockDomain& clock_;
  support::CycleEvent changed_;  ///< never notified: the answer changes only with CTAs and warps that start and end
  const WarpRoom* room_ = nullptr;
  unsigned warps_per_cta_ = 1;
  unsigned resident_ = 0;
  bool launches_partial_ = false;  ///< the CTA that is launched next
  std::optional<protocol::CtaSlot> partial_;
  std::vector<bool> waits_;  ///< by warp of the partial CTA
  unsigned waiting_ = 0;
  std::uint64_t since_ = 0;  ///< the partial CTA was launched
  std::uint64_t whole_ctas_ = 0, partial_ctas_ = 0, late_warps_ = 0, late_cycles_ = 0, partial_cycles_ = 0;
};

}  // namespace regatta::models
