// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/allocation_gate.h>

#include <algorithm>
#include <utility>

namespace regatta::models {

using protocol::CtaSlot;

AllocationGate::AllocationGate(const sc_core::sc_module_name& name, const Threshold& t, std::string relssp,
                               support::ClockDomain& clock)
    : CommonPartGate(name, "scratchpad_multiplexing.t", t, std::move(relssp), clock),
      multiplex("multiplex"),
      places("places") {}

void AllocationGate::end_of_elaboration() {
  CommonPartGate::end_of_elaboration();
  multiplex_ = multiplex.operator->();
  places_ = places.operator->();
}

void AllocationGate::kernel_started(const protocol::KernelContext& context) {
  CommonPartGate::kernel_started(context);
  queue_.clear();
  granted_from_.assign(context.resident_ctas, 0);
}

std::optional<std::uint64_t> AllocationGate::may_take_from(CtaSlot cta) const {
  if (places_->place(cta)) return granted_from_[cta.value()];
  // No place is free while a CTA waits.
  return places_->free_places() == 0 ? std::nullopt : std::make_optional(std::uint64_t{0});
}

void AllocationGate::take(CtaSlot cta) {
  granted_from_[cta.value()] = clock().now();
  places_->take(cta);
}

void AllocationGate::waits(CtaSlot cta) {
  if (std::find(queue_.begin(), queue_.end(), cta) != queue_.end()) return;
  queue_.push_back(cta);
  ++queued_;
}

void AllocationGate::give_back(CtaSlot cta, std::uint64_t from) {
  places_->give_back(cta);
  if (queue_.empty()) return;
  const CtaSlot next = queue_.front();
  queue_.pop_front();
  ++granted_;
  places_->take(next);
  granted_from_[next.value()] = from;
  reopen(next);
}

void AllocationGate::register_stats(support::StatGroup& g) {
  CommonPartGate::register_stats(g);
  g.counter("queued", queued_, "CTAs", "that found no place free");
  g.counter("granted", granted_, "CTAs", "of these that got the place of another one as it was given back");
}

}  // namespace regatta::models
