// SPDX-License-Identifier: Apache-2.0
#include <regatta/recorders/register_use.h>

#include <algorithm>

#include "register_slots.h"

namespace regatta::recorders {

using protocol::Cycle;
using protocol::DynamicInstruction;
using protocol::Event;

std::vector<Event> RegisterUse::interests() const {
  return {Event::kernel_started, Event::warp_started, Event::warp_finished, Event::issued};
}

void RegisterUse::kernel_started(Cycle, const protocol::KernelContext& context) {
  registers_ = context.registers_per_warp;
}

void RegisterUse::warp_started(Cycle, const protocol::WarpInfo& warp) {
  resident_ += registers_;
  allocated_ += registers_;
  // The registers of the slot are now those of another warp.
  const std::size_t first = warp.warp.value() * registers_per_slot;
  if (first + registers_per_slot > seen_.size()) seen_.resize(first + registers_per_slot);
  std::fill_n(seen_.begin() + static_cast<std::ptrdiff_t>(first), registers_per_slot, 0);
}

void RegisterUse::warp_finished(Cycle, const protocol::WarpInfo&) { resident_ -= registers_; }

void RegisterUse::touch(protocol::WarpSlot warp, protocol::RegisterId r) {
  std::uint64_t& seen = seen_[warp.value() * registers_per_slot + r.value()];
  touched_ += seen != number_;
  seen = number_;
}

void RegisterUse::issued(Cycle, const DynamicInstruction& d) {
  if (d.injected) return;
  for (unsigned i = 0; i < d.traits->read_count; ++i) touch(d.warp, d.traits->reads[i]);
  for (unsigned i = 0; i < d.traits->write_count; ++i) touch(d.warp, d.traits->writes[i]);
  if (++instructions_ == window_) close();
}

void RegisterUse::close() {
  const double share = double(touched_) / double(allocated_);
  lowest_ = windows_ == 0 ? share : std::min(lowest_, share);
  highest_ = std::max(highest_, share);
  sum_ += share;
  ++windows_;
  ++number_;
  instructions_ = touched_ = 0;
  allocated_ = resident_;
}

void RegisterUse::finish() {
  if (windows_ == 0 && instructions_ != 0) close();
}

}  // namespace regatta::recorders
