// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/clock_domain.h>

#include <functional>
#include <systemc>
#include <utility>
#include <vector>

namespace regatta::support {

/// An event of a part of a clock domain. Whoever is subscribed is told at the end of the cycle, after all clients of
/// the domain and without SystemC's kernel, so that the domain may be ahead of SystemC's time and on another thread. If
/// nobody is subscribed (in a bench), or if it is notified between cycles (when a launch starts, by a process outside
/// of the domain), it is an sc_event like any other: a subscriber makes a process that is sensitive to it, too.
class CycleEvent : public sc_core::sc_event {
 public:
  /// `clock`: nullptr for an event that is never notified.
  explicit CycleEvent(const char* name, ClockDomain* clock = nullptr);
  explicit CycleEvent(ClockDomain* clock = nullptr);
  ~CycleEvent();
  CycleEvent(const CycleEvent&) = delete;
  CycleEvent& operator=(const CycleEvent&) = delete;

  /// Several notifications in a cycle are one.
  void notify();
  /// Call it before the simulation begins.
  void subscribe(std::function<void()> told) const { told_.push_back(std::move(told)); }
  /// The event as what it is; nullptr if it is none of this class.
  static const CycleEvent* of(const sc_core::sc_event& event);

 private:
  friend class ClockDomain;
  void tell();

  ClockDomain* clock_;
  mutable std::vector<std::function<void()>> told_;
  bool notified_ = false;
};

}  // namespace regatta::support
