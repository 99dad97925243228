// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include "front_end.h"
#include "issue.h"

#include <limits>
#include <string>

namespace regatta::sm {

Warp& Control::resident(WarpSlot slot) {
  if (slot.value() >= core_.warps.size() || !core_.warp(slot).resident) {
    SC_REPORT_ERROR("regatta/sm_control",
                    (core_.path + " in cycle " + std::to_string(core_.now.value()) + ": a policy asks about warp " +
                     std::to_string(slot.value()) + ", which is not resident; expected a resident warp")
                        .c_str());
    throw std::logic_error("an error that SystemC reported was ignored");
  }
  return core_.warp(slot);
}

void Control::context(WarpSlot slot, protocol::WarpContext& c) {
  Warp& w = resident(slot);
  const bool decoded = w.next != nullptr && !w.next->injected;
  const std::uint64_t issued = w.sequence - (decoded ? 1 : 0);
  c.scheduled = w.active;
  c.exited = w.exited;
  c.at_barrier = w.at_barrier;
  c.in_flight = w.in_flight;
  c.memory_in_flight = w.memory_in_flight;
  c.pending = w.pending;
  c.next_sequence = issued + 1;
  c.resume.clear();
  if (w.exited) return;
  c.resume.push_back(front_end_.next_of_program(w));
  w.stack.advance(issued);
  const std::vector<trace::StackEvent>& stack = w.stack.entries();
  for (std::size_t e = stack.size(); e-- > 0;) c.resume.push_back(stack[e].resume_index);
}

void Control::classify(WarpSlot slot, unsigned priority_class) {
  Warp& w = resident(slot);
  constexpr unsigned most = std::numeric_limits<decltype(w.priority_class)>::max();
  if (priority_class > most) {
    SC_REPORT_ERROR("regatta/sm_control",
                    (core_.path + ": a policy gives warp " + std::to_string(slot.value()) + " class " +
                     std::to_string(priority_class) + "; expected 0 to " + std::to_string(most))
                        .c_str());
    return;
  }
  issue_.classify(w, priority_class);
}

}  // namespace regatta::sm
