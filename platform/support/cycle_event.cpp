// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/cycle_event.h>

#include <unordered_set>

namespace regatta::support {

namespace {

/// sc_event has no virtual functions by which one could tell its class.
std::unordered_set<const sc_core::sc_event*>& all() {
  static auto& events = *new std::unordered_set<const sc_core::sc_event*>;
  return events;
}

}  // namespace

CycleEvent::CycleEvent(const char* name, ClockDomain* clock) : sc_event(name), clock_(clock) { all().insert(this); }

CycleEvent::CycleEvent(ClockDomain* clock) : clock_(clock) { all().insert(this); }

CycleEvent::~CycleEvent() { all().erase(this); }

const CycleEvent* CycleEvent::of(const sc_core::sc_event& event) {
  return all().count(&event) != 0 ? static_cast<const CycleEvent*>(&event) : nullptr;
}

void CycleEvent::notify() {
  if (clock_ == nullptr || !clock_->is_running() || told_.empty()) {
    // Nobody may listen, and then the kernel is not touched from a thread.
    if (clock_ == nullptr || clock_->keeps_kernel_time()) sc_event::notify(sc_core::SC_ZERO_TIME);
    return;
  }
  if (std::exchange(notified_, true)) return;
  clock_->tell_at_end(*this);
}

void CycleEvent::tell() {
  notified_ = false;
  for (const std::function<void()>& told : told_) told();
}

}  // namespace regatta::support
