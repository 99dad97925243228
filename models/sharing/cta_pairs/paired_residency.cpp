// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/paired_residency.h>

#include <regatta/trace/sharing.h>

#include <algorithm>
#include <utility>

namespace regatta::models {

using protocol::CtaSlot;

PairedResidency::PairedResidency(const sc_core::sc_module_name& name, const Threshold& t, std::string resource)
    : sc_module(name), pairs("pairs"), t_(t), resource_(std::move(resource)), changed_("changed") {
  pairs.bind(*this);
}

protocol::ResourcePlan PairedResidency::plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) {
  plan_ = share(context, limits, occupancy_of(context, limits));
  launches_ += plan_.sharing() ? 1 : 0;
  protocol::ResourcePlan uses = protocol::ResourcePlan::conventional(context, limits, plan_.ctas);
  subtract_common(uses, context);
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
  g.counter("launches_shared", launches_, "launches", "in which pairs of CTAs share " + resource_);
  g.counter("unshared_ctas", unshared_ctas_, "CTAs", "launched that share nothing");
  g.counter("paired_ctas", paired_ctas_, "CTAs", "launched as one of a pair");
}

PairedRegisters::PairedRegisters(const sc_core::sc_module_name& name, const Threshold& t)
    : PairedResidency(name, t, "registers"), boundary("boundary") {
  boundary.bind(*this);
}

SharingPlan PairedRegisters::share(const protocol::KernelContext& context, const protocol::SmLimits& limits,
                                   const Occupancy& fits) {
  private_ = static_cast<unsigned>(t().of(context.registers_per_warp));
  // The rows of a pair of warps lie in one sub-core. With as many warps of a CTA in each, all sub-cores are alike.
  if (context.warps_per_cta % limits.sub_cores != 0) return SharingPlan{fits.ctas(), 0};
  const unsigned most = std::min({fits.by_ctas, fits.by_warps, fits.by_threads, fits.by_shared});
  const unsigned warps = context.warps_per_cta / limits.sub_cores;
  return effective_ctas(limits.registers / limits.sub_cores, std::uint64_t{warps} * context.registers_per_warp, t(),
                        most);
}

void PairedRegisters::subtract_common(protocol::ResourcePlan& uses, const protocol::KernelContext& context) const {
  uses.registers -= std::uint64_t{sharing().pairs} * context.warps_per_cta * (context.registers_per_warp - private_);
}

PairedScratchpad::PairedScratchpad(const sc_core::sc_module_name& name, const Threshold& t)
    : PairedResidency(name, t, "shared memory"), boundary("boundary") {
  boundary.bind(*this);
}

SharingPlan PairedScratchpad::share(const protocol::KernelContext& context, const protocol::SmLimits& limits,
                                    const Occupancy& fits) {
  const unsigned used = context.launch->shared_bytes_per_cta, granularity = limits.shared_granularity;
  cta_bytes_ = (used + granularity - 1) / granularity * granularity;
  private_ = trace::private_bytes(
      {static_cast<std::uint32_t>(t().numerator()), static_cast<std::uint32_t>(t().denominator())}, used);
  if (used == 0) return SharingPlan{fits.ctas(), 0};
  const unsigned most = std::min({fits.by_ctas, fits.by_warps, fits.by_threads, fits.by_registers});
  return effective_ctas(limits.shared_bytes, cta_bytes_, t(), most);
}

void PairedScratchpad::subtract_common(protocol::ResourcePlan& uses, const protocol::KernelContext&) const {
  uses.shared_bytes -= std::uint64_t{sharing().pairs} * (cta_bytes_ - private_);
}

}  // namespace regatta::models
