// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/occupancy_residency.h>

namespace regatta::models {

protocol::ResourcePlan OccupancyResidency::plan(const protocol::KernelContext& context,
                                                const protocol::SmLimits& limits) {
  resident_ = occupancy_of(context, limits).ctas();
  return protocol::ResourcePlan::conventional(context, limits, resident_);
}

protocol::ResourcePlan UnifiedOccupancyResidency::plan(const protocol::KernelContext& context,
                                                       const protocol::SmLimits& limits) {
  protocol::ResourcePlan plan = OccupancyResidency::plan(context, limits);
  const auto bytes = [&limits](const protocol::ResourcePlan& p) {
    return p.registers * limits.warp_size * trace::bytes_per_lane + p.shared_bytes;
  };
  while (resident_ > 1 && bytes(plan) > memory_.for_ctas()) {
    plan = protocol::ResourcePlan::conventional(context, limits, --resident_);
  }
  if (bytes(plan) > memory_.for_ctas()) {
    throw support::ConfigError("kernel " + context.kernel->name + ": one CTA takes " + std::to_string(bytes(plan)) +
                               " bytes of the unified memory, which has " + std::to_string(memory_.for_ctas()) +
                               " for CTAs (um.bytes less um.least_l1)");
  }
  plan.l1_bytes = memory_.l1_share(bytes(plan));
  return plan;
}

protocol::Residency::Action OccupancyResidency::next(const View& view) {
  Action action;
  if (view.ctas_waiting != 0 && view.ctas->size() < resident_) action.kind = Action::Kind::launch;
  return action;
}

}  // namespace regatta::models
