// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/renaming_residency.h>

#include <regatta/baseline/occupancy.h>
#include <regatta/support/energy.h>

#include <algorithm>
#include <limits>

namespace regatta::models {

RenamingResidency::RenamingResidency(const sc_core::sc_module_name& name, const RenamingConfig& config)
    : sc_module(name), room("room"), config_(config) {}

protocol::ResourcePlan RenamingResidency::plan(const protocol::KernelContext& context,
                                               const protocol::SmLimits& limits) {
  protocol::SmLimits others = limits;
  others.registers = std::numeric_limits<std::uint32_t>::max();
  resident_ = renaming_plan(context, config_, occupancy_of(context, others).ctas()).resident_ctas;
  protocol::ResourcePlan plan = protocol::ResourcePlan::conventional(context, limits, resident_);
  plan.registers = std::min(plan.registers, limits.registers);
  return plan;
}

protocol::Residency::Action RenamingResidency::next(const View& view) {
  Action action;
  if (view.ctas_waiting == 0 || view.ctas->size() >= resident_) return action;
  // The SM takes the lowest free slot.
  unsigned slot = 0;
  for (const protocol::CtaStatus& cta : *view.ctas) {
    if (cta.cta.value() != slot) break;
    ++slot;
  }
  if (room->may_launch(protocol::CtaSlot(static_cast<protocol::CtaSlot::rep>(slot)))) {
    action.kind = Action::Kind::launch;
  }
  return action;
}

void RenamingResidency::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("a decision per CTA; the counts that it goes by are the gate's");
}

}  // namespace regatta::models
