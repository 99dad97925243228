// SPDX-License-Identifier: Apache-2.0
//
// Two policies from outside regatta: a warp scheduler and a CTA residency, which main.cpp registers under names.
#pragma once

#include <regatta/baseline/occupancy_residency.h>
#include <regatta/protocol/extension_points.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace new_block {

namespace protocol = regatta::protocol;

/// The ready warp that came last.
class YoungestFirst : public protocol::WarpScheduler {
 public:
  unsigned pick(protocol::WarpMask ready) override {
    auto best = static_cast<unsigned>(__builtin_ctzll(ready));
    for (protocol::WarpMask m = ready; m != 0; m &= m - 1) {
      const auto warp = static_cast<unsigned>(__builtin_ctzll(m));
      if (age_[warp] > age_[best]) best = warp;
    }
    return best;
  }
  void issued(unsigned) override {}
  void warp_added(unsigned warp, const protocol::ScheduledWarp& added) override { age_[warp] = added.age; }
  void warp_removed(unsigned) override {}

 private:
  std::array<std::uint64_t, protocol::max_warps_per_scheduler> age_{};
};

/// Occupancy with a cap, to measure what thread-level parallelism is worth.
class CappedResidency : public regatta::models::OccupancyResidency {
 public:
  CappedResidency(const sc_core::sc_module_name& name, unsigned cap) : OccupancyResidency(name), cap_(cap) {}
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override {
    const unsigned fit = OccupancyResidency::plan(context, limits).resident_ctas;
    return protocol::ResourcePlan::conventional(context, limits, std::min(cap_, fit));
  }
  Action next(const View& view) override {
    return view.ctas->size() < cap_ ? OccupancyResidency::next(view) : Action{};
  }

 private:
  unsigned cap_;
};

}  // namespace new_block
