// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/residency.h>
#include <regatta/rfv/renaming_gate.h>
#include <regatta/support/stats.h>

#include <systemc>

namespace regatta::models {

/// As many CTAs as threads, warps, slots and shared memory allow, not registers (RFV, MICRO 2015). A CTA whose warps
/// have registers at their start waits until the throttle gives it rows for them.
class RenamingResidency final : public sc_core::sc_module, public protocol::Residency, public support::StatProvider {
 public:
  sc_core::sc_port<LaunchRoom> room;

  RenamingResidency(const sc_core::sc_module_name& name, const RenamingConfig& config);

  bool keeps_cycle_time() const override { return true; }
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override;
  Action next(const View& view) override;
  bool follows_stalls() const override { return false; }
  const sc_core::sc_event& changed() const override { return room->launch_changed(); }

  void register_stats(support::StatGroup&) override {}
  void register_energy(support::EnergyGroup& group) override;

 private:
  const RenamingConfig config_;
  unsigned resident_ = 0;
};

}  // namespace regatta::models
