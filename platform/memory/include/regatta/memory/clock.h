// SPDX-License-Identifier: Apache-2.0
//
// Whole SM cycles and SystemC time.
#pragma once

#include <cstdint>
#include <systemc>

namespace regatta::memory {

inline constexpr std::uint64_t no_cycle = ~std::uint64_t{0};

/// Converts between SystemC time and cycles of a clock whose period is a whole number of SystemC time units.
class CycleClock {
 public:
  explicit CycleClock(const sc_core::sc_time& period) : period_(period.value()), one_(period) {
    if (period_ == 0) SC_REPORT_FATAL("regatta/memory", "the clock period must not be zero");
  }
  std::uint64_t now() const { return sc_core::sc_time_stamp().value() / period_; }
  sc_core::sc_time time(std::uint64_t cycles) const { return sc_core::sc_time::from_value(cycles * period_); }
  const sc_core::sc_time& one() const { return one_; }
  /// Cycles of an annotated delay, rounded up.
  std::uint64_t cycles(const sc_core::sc_time& delay) const {
    return delay == one_ ? 1 : (delay.value() + period_ - 1) / period_;
  }
  /// When something sent with this delay is seen: never in the cycle of the call, so that the order in which
  /// SystemC runs the processes of one cycle has no influence.
  std::uint64_t arrival(std::uint64_t now, const sc_core::sc_time& delay) const {
    const std::uint64_t c = cycles(delay);
    return now + (c == 0 ? 1 : c);
  }

 private:
  std::uint64_t period_;
  sc_core::sc_time one_;
};

/// Finds the next cycle in which a module has something to do.
class NextCycle {
 public:
  explicit NextCycle(std::uint64_t now) : now_(now) {}
  /// Something is due at `at`. If that has passed, it was tried in vain: it is tried again in the next cycle when
  /// `freed` says that this cycle's work freed what it waits for; otherwise another module's call will wake us.
  void consider(std::uint64_t at, bool freed) {
    if (at <= now_) {
      if (!freed) return;
      at = now_ + 1;
    }
    if (at < next_) next_ = at;
  }
  std::uint64_t next() const { return next_; }

 private:
  std::uint64_t now_;
  std::uint64_t next_ = no_cycle;
};

}  // namespace regatta::memory
