// SPDX-License-Identifier: Apache-2.0
#include "flow_check.h"

#include <cstdio>
#include <string>

namespace regatta::trace {
namespace {

std::string hex(LaneMask lanes) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(lanes));
  return text;
}

}  // namespace

void FlowCheck::astray(const std::string& expected) const {
  cursor_.path().malformed(
      "static index " + std::to_string(cursor_.index()) + " with lanes " + hex(cursor_.simt_mask()) + " follows " +
      (before_ == nullptr ? "nothing"
                          : before_->opcode + " at static index " + std::to_string(before_index_) + " with lanes " +
                                hex(path_) + ", of which " + hex(active_) + " execute it") +
      "; expected " + expected);
}

void FlowCheck::check_arrival() {
  const std::uint32_t to = cursor_.index();
  const LaneMask lanes = cursor_.simt_mask();
  if (before_ == nullptr) {
    if (to != 0) astray("the kernel's first instruction");
    live_ = lanes;
    return;
  }
  if (popped_) {
    if (to != top_.resume_index || lanes != (top_.mask & live_)) {
      astray("static index " + std::to_string(top_.resume_index) + " with lanes " + hex(top_.mask & live_) +
             ", which the SIMT stack has wait");
    }
    return;
  }
  // Lanes that part at a branch to the next instruction do not part.
  const LaneMask expected =
      before_->op_class == OpClass::branch && before_->branch_target == std::int64_t{before_index_} + 1
          ? path_
          : lanes_to(*before_, before_index_, to, path_, active_);
  if (expected == 0) astray("an instruction that it leads to");
  if (lanes != expected) astray("lanes " + hex(expected));
}

void FlowCheck::step() {
  check_arrival();
  before_ = &cursor_.instruction();
  before_index_ = cursor_.index();
  path_ = cursor_.simt_mask();
  active_ = cursor_.active_mask();
  if (before_->op_class == OpClass::exit) live_ &= ~active_;
  events_.clear();
  cursor_.stack_events(events_);
  popped_ = false;
  for (const StackEvent& event : events_) {
    if (event.push) {
      parked_.push_back(event);
      continue;
    }
    if (parked_.empty()) cursor_.path().malformed("the SIMT stack is popped more often than pushed");
    top_ = parked_.back();
    parked_.pop_back();
    popped_ = true;
  }
}

void FlowCheck::finish() const {
  if (before_ == nullptr || live_ == 0) return;
  cursor_.path().malformed("the warp ends, and lanes " + hex(live_) + " have not exited");
}

}  // namespace regatta::trace
