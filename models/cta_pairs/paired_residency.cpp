// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/cta_pairs/paired_residency.h>

#include <regatta/models/occupancy/occupancy.h>

#include <algorithm>

namespace regatta::models {

using protocol::CtaSlot;

PairedResidency::PairedResidency(const sc_core::sc_module_name& name, const Threshold& t)
    : sc_module(name), pairs("pairs"), boundary("boundary"), t_(t), changed_("changed") {
  pairs.bind(*this);
  boundary.bind(*this);
}

protocol::ResourcePlan PairedResidency::plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) {
  const Occupancy fits = occupancy_of(context, limits);
  plan_ = SharingPlan{fits.ctas(), 0};
  private_ = static_cast<unsigned>(t_.of(context.registers_per_warp));
  // The rows of a pair of warps lie in one sub-core. With as many warps of a CTA in each, all sub-cores are alike.
  if (context.warps_per_cta % limits.sub_cores == 0) {
    const unsigned most = std::min({fits.by_ctas, fits.by_warps, fits.by_threads, fits.by_shared});
    const unsigned warps = context.warps_per_cta / limits.sub_cores;
    plan_ = effective_ctas(limits.registers / limits.sub_cores, std::uint64_t{warps} * context.registers_per_warp, t_,
                           most);
  }
  launches_ += plan_.sharing() ? 1 : 0;
  protocol::ResourcePlan uses = protocol::ResourcePlan::conventional(context, limits, plan_.ctas);
  uses.registers -= std::uint64_t{plan_.pairs} * context.warps_per_cta * (context.registers_per_warp - private_);
  return uses;
}

protocol::Residency::Action PairedResidency::next(const View& view) {
  Action action;
  if (view.ctas_waiting != 0 && view.ctas->size() < plan_.ctas) action.kind = Action::Kind::launch;
  return action;
}

void PairedResidency::cta_launched(const protocol::CtaInfo& cta) {
  ++(member(cta.cta) ? paired_ctas_ : unshared_ctas_);
}

std::optional<PairMember> PairedResidency::member(CtaSlot cta) const {
  const unsigned slot = cta.value(), first = plan_.unshared();
  if (slot < first || slot >= plan_.ctas) return std::nullopt;
  const unsigned at = slot - first;
  return at < plan_.pairs ? PairMember{at, 0} : PairMember{at - plan_.pairs, 1};
}

CtaSlot PairedResidency::slot(PairMember m) const {
  return CtaSlot(static_cast<CtaSlot::rep>(plan_.unshared() + m.side * plan_.pairs + m.pair));
}

void PairedResidency::register_stats(support::StatGroup& g) {
  g.counter("launches_shared", launches_, "launches", "in which pairs of CTAs share registers");
  g.counter("unshared_ctas", unshared_ctas_, "CTAs", "launched that share nothing");
  g.counter("paired_ctas", paired_ctas_, "CTAs", "launched as one of a pair");
}

}  // namespace regatta::models
