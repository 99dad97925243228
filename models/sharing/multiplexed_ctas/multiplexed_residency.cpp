// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/multiplexed_residency.h>

#include <regatta/trace/sharing.h>

#include <algorithm>

namespace regatta::models {

MultiplexPlan multiplex_ctas(std::uint64_t bytes, unsigned whole, unsigned own, unsigned limit, unsigned per_place) {
  const auto alone = static_cast<unsigned>(std::min<std::uint64_t>(bytes / whole, limit));
  for (unsigned ctas = limit; ctas > alone; --ctas) {
    const std::uint64_t private_bytes = std::uint64_t{ctas} * own;
    if (private_bytes > bytes) continue;
    const auto places = static_cast<unsigned>(std::min<std::uint64_t>((bytes - private_bytes) / (whole - own), ctas));
    if (places != 0 && (per_place == 0 || per_place * places >= ctas)) return {ctas, places};
  }
  return {alone, alone};
}

MultiplexedResidency::MultiplexedResidency(const sc_core::sc_module_name& name, const Threshold& t, unsigned most)
    : sc_module(name), multiplex("multiplex"), boundary("boundary"), t_(t), most_(most), changed_("changed") {
  multiplex.bind(*this);
  boundary.bind(*this);
}

protocol::ResourcePlan MultiplexedResidency::plan(const protocol::KernelContext& context,
                                                  const protocol::SmLimits& limits) {
  const Occupancy fits = occupancy_of(context, limits);
  const unsigned used = context.launch->shared_bytes_per_cta, granularity = limits.shared_granularity;
  cta_bytes_ = (used + granularity - 1) / granularity * granularity;
  private_ = trace::private_bytes(
      {static_cast<std::uint32_t>(t_.numerator()), static_cast<std::uint32_t>(t_.denominator())}, used);
  plan_ = {fits.ctas(), fits.ctas()};
  if (used != 0 && fits.ctas() == fits.by_shared && t_.numerator() != t_.denominator()) {
    unsigned others = std::min({fits.by_ctas, fits.by_warps, fits.by_threads, fits.by_registers});
    if (most_ != 0) others = std::max(fits.by_shared, std::min(others, most_));
    plan_ = multiplex_ctas(limits.shared_bytes, cta_bytes_, private_, others, most_ == 0 ? 2 : 0);
  }
  launches_ += plan_.multiplexes() ? 1 : 0;
  protocol::ResourcePlan uses = protocol::ResourcePlan::conventional(context, limits, plan_.ctas);
  uses.shared_bytes -= std::uint64_t{plan_.ctas - plan_.places} * (cta_bytes_ - private_);
  return uses;
}

protocol::Residency::Action MultiplexedResidency::next(const View& view) {
  Action action;
  if (view.ctas_waiting != 0 && view.ctas->size() < plan_.ctas) action.kind = Action::Kind::launch;
  return action;
}

void MultiplexedResidency::cta_launched(const protocol::CtaInfo&) {
  ++(plan_.multiplexes() ? multiplexed_ctas_ : whole_ctas_);
}

void MultiplexedResidency::register_stats(support::StatGroup& g) {
  g.counter("launches_multiplexed", launches_, "launches", "with more CTAs than places in shared memory");
  g.counter("multiplexed_ctas", multiplexed_ctas_, "CTAs", "of these launches");
  g.counter("whole_ctas", whole_ctas_, "CTAs", "of other launches");
}

}  // namespace regatta::models
