// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/allocation_table.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <string>

namespace regatta::models {

using protocol::CtaSlot;

AllocationTable::AllocationTable(const sc_core::sc_module_name& name, support::ClockDomain& clock)
    : sc_module(name), multiplex("multiplex"), places("places"), clock_(clock) {
  places.bind(*this);
}

void AllocationTable::kernel_started(const protocol::KernelContext&) {
  const MultiplexPlan& plan = multiplex->plan();
  multiplexes_ = plan.multiplexes();
  holders_.assign(plan.places, std::nullopt);
  place_of_.assign(plan.ctas, std::nullopt);
  free_ = plan.places;
}

std::optional<unsigned> AllocationTable::place(CtaSlot cta) const {
  return multiplexes_ ? place_of_[cta.value()] : std::make_optional<unsigned>(cta.value());
}

void AllocationTable::complain(CtaSlot cta, const std::string& what) const {
  SC_REPORT_ERROR("regatta/scratchpad_locks", (std::string(name()) + " in cycle " + std::to_string(clock_.now()) +
                                               ": CTA slot " + std::to_string(cta.value()) + " " + what)
                                                  .c_str());
}

void AllocationTable::take(CtaSlot cta) {
  if (place_of_[cta.value()]) return complain(cta, "takes a place; expected a CTA that has none");
  const auto found = std::find(holders_.begin(), holders_.end(), std::nullopt);
  if (found == holders_.end()) {
    return complain(
        cta, "takes a place, and CTAs have all " + std::to_string(holders_.size()) + "; expected that one is free");
  }
  *found = cta;
  place_of_[cta.value()] = static_cast<unsigned>(found - holders_.begin());
  --free_;
  ++takes_;
  most_ = std::max<std::uint64_t>(most_, holders_.size() - free_);
}

void AllocationTable::give_back(CtaSlot cta) {
  if (!place_of_[cta.value()]) return complain(cta, "gives a place back; expected a CTA that has one");
  holders_[*place_of_[cta.value()]].reset();
  place_of_[cta.value()].reset();
  ++free_;
  ++returns_;
}

void AllocationTable::register_stats(support::StatGroup& g) {
  g.counter("takes", takes_, "places", "taken");
  g.counter("returns", returns_, "places", "given back");
  g.derived(
      "held_max", [this] { return double(most_); }, "places", "that CTAs had at a time, at most");
}

void AllocationTable::register_energy(support::EnergyGroup& g) {
  g.event("resource_sharing", "resource_sharing.lock", takes_);
  g.event("resource_sharing", "resource_sharing.lock", returns_);
}

std::uint64_t allocation_bits(unsigned ctas) {
  std::uint64_t bits = 0;
  while ((1ULL << bits) < ctas) ++bits;
  return ctas * (2 * (bits + 1)) + ctas;
}

}  // namespace regatta::models
