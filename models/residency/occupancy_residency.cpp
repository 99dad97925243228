// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/residency/occupancy.h>

namespace regatta::models {

protocol::ResourcePlan OccupancyResidency::plan(const protocol::KernelContext& context,
                                                const protocol::SmLimits& limits) {
  resident_ = occupancy_of(context, limits).ctas();
  return protocol::ResourcePlan::conventional(context, limits, resident_);
}

protocol::Residency::Action OccupancyResidency::next(const View& view) {
  Action action;
  if (view.ctas_waiting != 0 && view.ctas->size() < resident_) action.kind = Action::Kind::launch;
  return action;
}

}  // namespace regatta::models
