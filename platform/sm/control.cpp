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

namespace {

/// Instructions of the program that the warp has issued: one may be decoded and not issued.
std::uint64_t issued_by(const Warp& w) {
  const bool decoded = w.next != nullptr && !w.next->injected;
  return w.sequence - (decoded ? 1 : 0);
}

}  // namespace

std::uint64_t Control::progress(CtaSlot cta) {
  const std::size_t warps = core_.kernel.warps_per_cta;
  std::uint64_t all = 0;
  for (std::size_t i = cta.value() * warps; i < (cta.value() + 1) * warps && i < core_.warps.size(); ++i) {
    all += issued_by(core_.warps[i]);
  }
  return all;
}

void Control::context(WarpSlot slot, protocol::WarpContext& c) {
  Warp& w = resident(slot);
  const std::uint64_t issued = issued_by(w);
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
