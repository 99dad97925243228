// SPDX-License-Identifier: Apache-2.0
//
// The conventional residency policy: as many CTAs as the SM's limits allow, all of them active, each from launch
// to end.
#pragma once

#include <regatta/models/occupancy/occupancy.h>
#include <regatta/protocol/extension_points.h>

#include <systemc>

namespace regatta::models {

class OccupancyResidency : public sc_core::sc_module, public protocol::Residency {
 public:
  explicit OccupancyResidency(const sc_core::sc_module_name& name) : sc_module(name), changed_("changed") {}

  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override;
  Action next(const View& view) override;
  bool follows_stalls() const override { return false; }
  const sc_core::sc_event& changed() const override { return changed_; }
  bool keeps_cycle_time() const override { return true; }

 private:
  sc_core::sc_event changed_;  ///< never notified: the answer changes only with CTA starts and ends
  unsigned resident_ = 0;
};

}  // namespace regatta::models
