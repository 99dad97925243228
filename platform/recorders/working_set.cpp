// SPDX-License-Identifier: Apache-2.0
#include <regatta/recorders/working_set.h>

#include <algorithm>

#include "register_slots.h"

namespace regatta::recorders {

using protocol::Cycle;
using protocol::DynamicInstruction;
using protocol::Event;

std::vector<Event> RegisterWorkingSet::interests() const {
  return {Event::operands_delivered, Event::register_written};
}

void RegisterWorkingSet::touch(protocol::WarpSlot warp, protocol::RegisterId r) {
  const std::size_t place = warp.value() * registers_per_slot + r.value();
  if (place >= seen_.size()) seen_.resize((warp.value() + 1u) * registers_per_slot);
  if (seen_[place] == end_) return;
  seen_[place] = end_;
  ++here_;
}

void RegisterWorkingSet::operands_delivered(Cycle now, const DynamicInstruction& d) {
  roll(now.value());
  for (unsigned i = 0; i < d.traits->read_count; ++i) touch(d.warp, d.traits->reads[i]);
}

void RegisterWorkingSet::register_written(Cycle now, const DynamicInstruction& d, unsigned destination, bool written) {
  if (!written) return;
  roll(now.value());
  touch(d.warp, d.traits->writes[destination]);
}

void RegisterWorkingSet::close(std::uint64_t now) {
  sum_ += here_;
  peak_ = std::max(peak_, here_);
  here_ = 0;
  const std::uint64_t passed = (now - end_) / window_cycles_ + 1;
  windows_ += passed;
  end_ += passed * window_cycles_;
}

void RegisterWorkingSet::finish(std::uint64_t now) {
  roll(now);
  if (now + window_cycles_ > end_) close(end_);  // a window has begun and is cut short
}

}  // namespace regatta::recorders
