// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/partial_residency.h>

#include <regatta/support/energy.h>

#include <algorithm>

namespace regatta::models {

using protocol::CtaSlot;

PartialResidency::PartialResidency(const sc_core::sc_module_name& name, support::ClockDomain& clock)
    : sc_module(name), room("room"), clock_(clock), changed_("changed") {}

protocol::ResourcePlan PartialResidency::plan(const protocol::KernelContext& context,
                                              const protocol::SmLimits& limits) {
  const Occupancy fits = occupancy_of(context, limits);
  warps_per_cta_ = context.warps_per_cta;
  launches_partial_ = false;
  partial_.reset();
  waiting_ = 0;
  // Every resident CTA has a window at least.
  const std::uint64_t windows = limits.registers / limits.sub_cores / context.registers_per_warp * limits.sub_cores;
  const unsigned others = std::min({fits.by_ctas, fits.by_warps, fits.by_threads, fits.by_shared});
  resident_ = static_cast<unsigned>(std::min<std::uint64_t>(others, windows));
  protocol::ResourcePlan plan = protocol::ResourcePlan::conventional(context, limits, resident_);
  plan.registers = std::min(plan.registers, windows * context.registers_per_warp);
  return plan;
}

unsigned PartialResidency::warps_with_room(CtaSlot cta) const {
  std::vector<unsigned> free(room_->slices());
  for (unsigned s = 0; s < free.size(); ++s) free[s] = room_->free_windows(s);
  unsigned found = 0;
  for (unsigned i = 0; i < warps_per_cta_; ++i) {
    unsigned& left = free[room_->slice_of(warp(cta, i))];
    if (left == 0) continue;
    --left;
    ++found;
  }
  return found;
}

protocol::Residency::Action PartialResidency::admit() const {
  Action action;
  for (unsigned i = 0; i < warps_per_cta_; ++i) {
    if (!waits_[i] || room_->free_windows(room_->slice_of(warp(*partial_, i))) == 0) continue;
    action.kind = Action::Kind::admit;
    action.cta = *partial_;
    action.warp_in_cta = i;
    break;
  }
  return action;
}

protocol::Residency::Action PartialResidency::next(const View& view) {
  launches_partial_ = false;
  if (partial_) return admit();
  Action action;
  if (view.ctas_waiting == 0 || view.ctas->size() >= resident_) return action;
  // The SM takes the lowest free slot.
  unsigned slot = 0;
  for (const protocol::CtaStatus& cta : *view.ctas) {
    if (cta.cta.value() != slot) break;
    ++slot;
  }
  const unsigned warps = warps_with_room(CtaSlot(static_cast<CtaSlot::rep>(slot)));
  if (warps == 0) return action;
  action.kind = Action::Kind::launch;
  action.warps_wait = launches_partial_ = warps < warps_per_cta_;
  return action;
}

void PartialResidency::cta_launched(const protocol::CtaInfo& cta) {
  ++(launches_partial_ ? partial_ctas_ : whole_ctas_);
  if (!launches_partial_) return;
  partial_ = cta.cta;
  waits_.assign(warps_per_cta_, true);
  waiting_ = warps_per_cta_;
  since_ = clock_.now();
}

void PartialResidency::warp_started(const protocol::WarpInfo& warp) {
  if (partial_ != warp.cta) return;
  waits_[warp.warp_in_cta] = false;
  const std::uint64_t waited = clock_.now() - since_;
  late_warps_ += waited != 0 ? 1 : 0;
  late_cycles_ += waited;
  if (--waiting_ != 0) return;
  partial_cycles_ += waited;
  partial_.reset();
}

void PartialResidency::register_stats(support::StatGroup& g) {
  g.counter("whole_ctas", whole_ctas_, "CTAs", "launched with all of their warps");
  g.counter("partial_ctas", partial_ctas_, "CTAs", "launched with registers for a part of their warps");
  g.counter("late_warps", late_warps_, "warps", "of these CTAs, admitted after the cycle of the launch");
  g.counter("late_cycles", late_cycles_, "warp-cycles", "from the launch of their CTA to their admission");
  g.counter("partial_cycles", partial_cycles_, "cycles", "in which a resident CTA did not have all of its warps");
}

void PartialResidency::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("a decision per CTA and per warp; the table that it goes by is the warp table's");
}

}  // namespace regatta::models
