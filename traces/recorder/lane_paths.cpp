// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/lane_paths.h>

#include <algorithm>

#include "hex.h"

namespace regatta::trace {
void LanePaths::add(std::vector<Group>& groups, std::uint32_t next, LaneMask lanes) {
  if (lanes == 0) return;
  for (Group& g : groups) {
    if (g.next == next) {
      g.lanes |= lanes;
      return;
    }
  }
  groups.push_back({next, lanes});
}

LaneMask LanePaths::going(std::uint32_t index) const {
  if (!begun_) return index == 0 ? threads_ : 0;
  for (const Group& g : here_) {
    if (g.next == index) return g.lanes;
  }
  return 0;
}

/// Whether a reader that knows the kernel expects this path without an event of the stack.
bool LanePaths::goes_by_itself(std::uint32_t index, LaneMask path) const {
  const StaticInstruction& before = kernel_->instructions[index_];
  if (before.op_class == OpClass::branch && before.branch_target == std::int64_t{index_} + 1) {
    return index == index_ + 1 && path == path_;
  }
  return lanes_to(before, index_, index, path_, active_) == path;
}

LaneMask LanePaths::waiting(std::uint32_t index) const {
  if (!begun_) return index == 0 ? threads_ : 0;
  LaneMask lanes = 0;
  for (const std::vector<Group>* groups : {&here_, &parked_}) {
    for (const Group& g : *groups) lanes |= g.next == index ? g.lanes : 0;
  }
  return lanes;
}

std::string LanePaths::misplaced(std::uint32_t index, LaneMask lanes) const {
  const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes));
  std::string where = (threads_ >> lane & 1) == 0 ? "does not exist" : "has exited";
  for (const std::vector<Group>* groups : {&here_, &parked_}) {
    for (const Group& g : *groups) {
      if ((g.lanes >> lane & 1) != 0) where = "goes on at static index " + std::to_string(g.next);
    }
  }
  return "lane " + std::to_string(lane) + " is on the path to static index " + std::to_string(index) + ", and it " +
         where;
}

std::string LanePaths::step(std::uint32_t index, LaneMask path, std::vector<StackEvent>& events) {
  if (!begun_) {
    if (index != 0 || path != threads_) {
      return "the warp begins at static index " + std::to_string(index) + " with lanes " + hex(path) +
             ", expected static index 0 with lanes " + hex(threads_);
    }
    begun_ = true;
    index_ = index;
    path_ = path;
    return {};
  }
  if (path == 0) return "no lane is on the path";
  if (const LaneMask lost = path & ~waiting(index); lost != 0) return misplaced(index, lost);

  // The stack from the first entry that changes; what is under it stays.
  std::size_t kept = parked_.size();
  for (std::size_t n = parked_.size(); n-- > 0;) {
    if ((parked_[n].lanes & path) != 0) kept = n;
  }
  const bool pops_top = kept + 1 == parked_.size() && parked_.back().lanes == path &&
                        std::all_of(here_.begin(), here_.end(), [](const Group& g) { return g.lanes == 0; });
  if (pops_top) {
    events.push_back({});
    parked_.pop_back();
  } else {
    std::vector<Group> again(parked_.begin() + static_cast<std::ptrdiff_t>(kept), parked_.end());
    const std::size_t popped = again.size();
    events.resize(events.size() + popped);
    parked_.resize(kept);
    again.insert(again.end(), here_.begin(), here_.end());
    for (Group& g : again) {
      g.lanes &= ~path;
      if (g.lanes == 0) continue;
      events.push_back({true, g.next, g.lanes});
      parked_.push_back(g);
    }
    if (popped != 0 || !goes_by_itself(index, path)) {
      events.push_back({true, index, path});
      events.push_back({});
    }
  }
  index_ = index;
  path_ = path;
  return {};
}

void LanePaths::execute(LaneMask active) {
  active_ = active;
  here_.clear();
  const StaticInstruction& i = kernel_->instructions[index_];
  const LaneMask rest = path_ & ~active;
  if (i.op_class == OpClass::exit) {
    live_ &= ~active;
    add(here_, index_ + 1, rest);
  } else if (i.op_class == OpClass::branch) {
    add(here_, index_ + 1, rest);
    add(here_, static_cast<std::uint32_t>(i.branch_target), active);
  } else {
    add(here_, index_ + 1, path_);
  }
}

std::string LanePaths::goes_to(LaneMask lanes, std::uint32_t index) {
  if (kernel_->instructions[index_].op_class != OpClass::branch || (lanes & ~active_) != 0) {
    return "lanes " + hex(lanes) + " are sent to static index " + std::to_string(index) +
           ", expected lanes that execute a branch: " +
           hex(kernel_->instructions[index_].op_class == OpClass::branch ? active_ : 0);
  }
  if (index > kernel_->instructions.size()) {
    return "lanes are sent to static index " + std::to_string(index) + ", which the kernel does not have";
  }
  for (Group& g : here_) g.lanes &= ~lanes;
  here_.erase(std::remove_if(here_.begin(), here_.end(), [](const Group& g) { return g.lanes == 0; }), here_.end());
  add(here_, index, lanes);
  return {};
}

}  // namespace regatta::trace
