// SPDX-License-Identifier: Apache-2.0
#include <regatta/recorders/instruction_cycles.h>

#include <algorithm>

namespace regatta::recorders {

using protocol::Cycle;
using protocol::Event;
using protocol::Stall;
using protocol::WarpState;

std::vector<Event> InstructionCycles::interests() const {
  return {Event::kernel_started, Event::cta_switched, Event::warp_started, Event::warp_finished,
          Event::fetched,        Event::issued,       Event::warp_state,   Event::cycles};
}

InstructionCycles::Warp& InstructionCycles::warp(protocol::WarpSlot slot) {
  if (warps_.size() <= slot.value()) warps_.resize(slot.value() + 1u);
  return warps_[slot.value()];
}

void InstructionCycles::kernel_started(Cycle, const protocol::KernelContext& context) {
  charged_.assign(context.kernel->instructions.size() + 1, CyclesByReason{});
  warps_.clear();
  order_.clear();
  active_.clear();
  issues_.clear();
}

void InstructionCycles::cta_switched(Cycle, protocol::CtaSlot cta, bool active) {
  if (active_.size() <= cta.value()) active_.resize(cta.value() + 1u);
  active_[cta.value()] = active;
}

void InstructionCycles::warp_started(Cycle, const protocol::WarpInfo& info) {
  Warp& w = warp(info.warp);
  w = Warp{};
  w.resident = true;
  w.scheduler = info.scheduler;
  w.cta = info.cta.value();
  order_.push_back(info.warp.value());
}

void InstructionCycles::warp_finished(Cycle, const protocol::WarpInfo& info) {
  warp(info.warp).resident = false;
  order_.erase(std::remove(order_.begin(), order_.end(), info.warp.value()), order_.end());
}

void InstructionCycles::fetched(Cycle, const protocol::WarpInfo& info, const protocol::InstructionTraits& t) {
  warp(info.warp).fetched.push_back(t.index);
}

void InstructionCycles::warp_state(Cycle, const protocol::WarpInfo& info, WarpState state) {
  Warp& w = warp(info.warp);
  w.state = state;
  w.scheduler = info.scheduler;
}

void InstructionCycles::issued(Cycle now, const protocol::DynamicInstruction& d) {
  Warp& w = warp(d.warp);
  // An injected one was not fetched; it goes before the next one, to which its cycle is charged.
  if (!d.injected) {
    w.last = w.fetched.front();
    w.fetched.pop_front();
  }
  if (issues_.size() <= d.scheduler) issues_.resize(d.scheduler + 1u);
  Issue& i = issues_[d.scheduler];
  if (i.cycle == now.value()) return;
  i.cycle = now.value();
  i.instruction = d.injected && !w.fetched.empty() ? w.fetched.front() : w.last;
}

const InstructionCycles::Warp* InstructionCycles::oldest(unsigned scheduler, WarpState state) const {
  for (const std::uint16_t slot : order_) {
    const Warp& w = warps_[slot];
    if (w.scheduler == scheduler && w.state == state && w.cta < active_.size() && active_[w.cta]) return &w;
  }
  return nullptr;
}

std::size_t InstructionCycles::blamed(unsigned scheduler, Stall stall) const {
  const std::size_t nothing = charged_.size() - 1;
  WarpState state = WarpState::ready;
  switch (stall) {
    case Stall::none:
      return issues_[scheduler].instruction;
    case Stall::idle:
      return nothing;
    case Stall::scoreboard:
      state = WarpState::scoreboard;
      break;
    case Stall::memory:
      state = WarpState::memory;
      break;
    case Stall::barrier:
      state = WarpState::barrier;
      break;
    case Stall::instruction_fetch:
      state = WarpState::instruction_fetch;
      break;
    default:
      break;
  }
  const Warp* w = oldest(scheduler, state);
  if (w == nullptr) {
    // A warp of another scheduler has released it in the same cycle, from a barrier.
    w = oldest(scheduler, WarpState::ready);
    return w == nullptr ? nothing : w->last;
  }
  if (stall == Stall::barrier || w->fetched.empty()) return w->last;
  return w->fetched.front();
}

void InstructionCycles::cycles(Cycle, std::uint64_t count, const std::vector<Stall>& stall) {
  for (unsigned s = 0; s < stall.size(); ++s) {
    charged_[blamed(s, stall[s])][static_cast<unsigned>(stall[s])] += count;
  }
}

}  // namespace regatta::recorders
