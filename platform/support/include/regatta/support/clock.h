// SPDX-License-Identifier: Apache-2.0
//
// Cycles and time. A clock domain is a period and nothing else: no sc_clock, no events.
#pragma once

#include <cstdint>
#include <systemc>

namespace regatta::support {

/// Conversions in integers of SystemC's time resolution; edges are at whole multiples of the period.
class ClockDomain {
 public:
  /// ConfigError when the period is zero.
  explicit ClockDomain(sc_core::sc_time period);
  /// The period is rounded to the time resolution (1 ps unless set otherwise): 1216 MHz is 822 ps.
  /// ConfigError unless the rounded period is at least one step of the resolution.
  static ClockDomain from_mhz(double mhz);

  const sc_core::sc_time& period() const { return period_; }
  double mhz() const { return 1e-6 / period_.to_seconds(); }
  /// Whole cycles that have passed at `time`.
  std::uint64_t cycles(const sc_core::sc_time& time) const { return time.value() / ticks_; }
  /// Cycles needed to cover `time`: rounded up.
  std::uint64_t cycles_up(const sc_core::sc_time& time) const {
    return time.value() / ticks_ + (time.value() % ticks_ != 0 ? 1 : 0);
  }
  sc_core::sc_time time(std::uint64_t cycles) const { return sc_core::sc_time::from_value(cycles * ticks_); }
  bool on_edge(const sc_core::sc_time& time) const { return time.value() % ticks_ == 0; }
  /// The first edge at or after `time`.
  sc_core::sc_time edge_at_or_after(const sc_core::sc_time& time) const { return this->time(cycles_up(time)); }
  /// Delay from `time` to that edge: what an annotated TLM delay or a notify() takes.
  sc_core::sc_time until_edge(const sc_core::sc_time& time) const {
    const std::uint64_t beyond = time.value() % ticks_;
    return sc_core::sc_time::from_value(beyond == 0 ? 0 : ticks_ - beyond);
  }

 private:
  sc_core::sc_time period_;
  std::uint64_t ticks_;
};

}  // namespace regatta::support
