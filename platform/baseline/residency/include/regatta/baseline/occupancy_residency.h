// SPDX-License-Identifier: Apache-2.0
//
// The conventional residency policy: as many CTAs as the SM's limits allow, all of them active, each from launch
// to end.
#pragma once

#include <regatta/baseline/occupancy.h>
#include <regatta/baseline/unified_memory.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/support/cycle_event.h>

#include <systemc>

namespace regatta::models {

class OccupancyResidency : public sc_core::sc_module, public protocol::Residency {
 public:
  explicit OccupancyResidency(const sc_core::sc_module_name& name) : sc_module(name), changed_("changed") {}

  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override;
  Action next(const View& view) override;
  std::string budget_obstacle() const override { return {}; }
  bool follows_stalls() const override { return false; }
  const sc_core::sc_event& changed() const override { return changed_; }
  bool keeps_cycle_time() const override { return true; }

 protected:
  unsigned resident_ = 0;

 private:
  support::CycleEvent changed_;  ///< never notified: the answer changes only with CTA starts and ends
};

/// The same on an SM whose registers, shared memory and L1 are one memory (FineReg's UM): CTAs take what they need, and
/// the L1 has the rest.
class UnifiedOccupancyResidency final : public OccupancyResidency {
 public:
  UnifiedOccupancyResidency(const sc_core::sc_module_name& name, const UnifiedMemory& memory)
      : OccupancyResidency(name), memory_(memory) {}
  /// Throws support::ConfigError for a CTA that does not fit into the memory.
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override;

 private:
  const UnifiedMemory memory_;
};

}  // namespace regatta::models
