// SPDX-License-Identifier: Apache-2.0
//
// The conventional residency policy: as many CTAs as the SM's limits allow, all of them active, each from launch
// to end.
#pragma once

#include <regatta/protocol/extension_points.h>

#include <string>
#include <systemc>

namespace regatta::models {

/// Number of resident CTAs that each limit allows, and their minimum (CUDA's occupancy rules).
struct Occupancy {
  unsigned by_ctas = 0;
  unsigned by_warps = 0;
  unsigned by_threads = 0;
  unsigned by_registers = 0;
  unsigned by_shared = 0;
  unsigned ctas() const;
  /// The binding limit: "CTAs", "warps", "threads", "registers" or "shared memory".
  std::string bound() const;
};

/// `registers_per_warp` in warp registers, already rounded to the allocation granularity; `shared_bytes` of one CTA.
Occupancy occupancy(const protocol::SmLimits& limits, unsigned warps_per_cta, unsigned registers_per_warp,
                    unsigned shared_bytes);

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
