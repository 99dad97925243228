// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/multiplexed_scratchpad.h>

namespace regatta::models {

void MultiplexedScratchpad::end_of_elaboration() {
  DividedScratchpad::end_of_elaboration();
  multiplex_ = multiplex.operator->();
  places_ = places.operator->();
}

std::uint64_t MultiplexedScratchpad::used_bytes() const {
  const MultiplexPlan& plan = multiplex_->plan();
  return std::uint64_t{plan.ctas} * private_bytes() + std::uint64_t{plan.places} * (whole_bytes() - private_bytes());
}

std::string MultiplexedScratchpad::ctas_text() const {
  return std::to_string(multiplex_->plan().ctas) + " CTAs, with " + std::to_string(multiplex_->plan().places) +
         " places";
}

DividedScratchpad::Parts MultiplexedScratchpad::parts_of(protocol::CtaSlot cta) const {
  const std::uint32_t split = private_bytes();
  const MultiplexPlan& plan = multiplex_->plan();
  // An access of private bytes needs no place.
  const std::uint32_t place = places_->place(cta).value_or(0);
  return {cta.value() * split, plan.ctas * split + place * (whole_bytes() - split), split, plan.multiplexes()};
}

}  // namespace regatta::models
