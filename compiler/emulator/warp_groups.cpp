// SPDX-License-Identifier: Apache-2.0
//
// Groups of a warp's lanes that run in another order than that of the SIMT stack.
#include "warp.h"

#include <algorithm>
#include <utility>

namespace regatta::emulator {

using trace::LaneMask;

LaneMask Warp::lanes_above(std::size_t entry) const {
  LaneMask lanes = 0;
  for (std::size_t e = entry + 1; e < stack_.size(); ++e) lanes |= stack_[e].mask;
  return lanes;
}

std::size_t Warp::entry_of(unsigned lane) const {
  std::size_t e = stack_.size() - 1;
  while (e > 0 && (stack_[e].mask >> lane & 1u) == 0) --e;
  return e;
}

/// Another stack for the same lanes. The trace has it as pops and pushes, the last of which makes the top.
void Warp::restack(std::vector<StackEntry> next) {
  left_stack_order = true;
  if (encoder) {
    const auto parked = [](const std::vector<StackEntry>& stack, std::size_t e) { return e + 1 < stack.size(); };
    std::size_t same = 0;
    while (parked(stack_, same) && parked(next, same) && stack_[same].pc == next[same].pc &&
           stack_[same].mask == next[same].mask) {
      ++same;
    }
    for (std::size_t e = same; parked(stack_, e); ++e) encoder->pop();
    for (std::size_t e = same; parked(next, e); ++e) encoder->push(next[e].pc, next[e].mask);
    encoder->push(next.back().pc, next.back().mask);
    encoder->pop();
  }
  stack_ = std::move(next);
}

void Warp::bring_up(std::size_t entry) {
  if (entry + 1 == stack_.size()) return;
  std::vector<StackEntry> next = stack_;
  std::rotate(next.begin() + static_cast<std::ptrdiff_t>(entry), next.begin() + static_cast<std::ptrdiff_t>(entry) + 1,
              next.end());
  restack(std::move(next));
}

bool Warp::release_waiting() {
  for (std::size_t e = stack_.size(); e-- > 0;) {
    const LaneMask above = lanes_above(e);
    const LaneMask waiting = stack_[e].mask & ~above;
    if (waiting == 0 || (stack_[e].mask & above) == 0) continue;
    std::vector<StackEntry> next = stack_;
    next[e].mask &= above;
    next.push_back({next[e].pc, next[e].reconvergence, waiting});
    restack(std::move(next));
    return true;
  }
  return false;
}

void Warp::unite(LaneMask lanes) {
  std::vector<StackEntry> next;
  StackEntry all;
  united_.clear();
  for (std::size_t e = 0; e < stack_.size(); ++e) {
    const StackEntry& entry = stack_[e];
    if ((entry.mask & ~lanes) != 0 || !is_group(e)) {
      next.push_back(entry);
      continue;
    }
    all.pc = entry.pc;
    all.mask |= entry.mask;
    united_.push_back(entry);
  }
  const bool together = std::all_of(united_.begin(), united_.end(),
                                    [&](const StackEntry& e) { return e.reconvergence == united_[0].reconvergence; });
  if (together) {
    all.reconvergence = united_[0].reconvergence;
    united_.clear();
  }
  next.push_back(all);
  restack(std::move(next));
}

void Warp::split_up() {
  if (united_.empty()) return;
  std::vector<StackEntry> next(stack_.begin(), stack_.end() - 1);
  const std::uint32_t behind = stack_.back().pc;
  for (StackEntry part : std::exchange(united_, {})) {
    part.pc = behind;
    // Lanes that meet others there are in the entry that waits.
    if (behind != part.reconvergence) next.push_back(part);
  }
  restack(std::move(next));
}

}  // namespace regatta::emulator
