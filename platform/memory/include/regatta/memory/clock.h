// SPDX-License-Identifier: Apache-2.0
//
// Whole SM cycles and SystemC time.
#pragma once

#include <regatta/support/clock_domain.h>

#include <cstdint>
#include <systemc>

namespace regatta::memory {

inline constexpr std::uint64_t no_cycle = ~std::uint64_t{0};

/// Converts between SystemC time and cycles of a clock whose period is a whole number of SystemC time units. Without
/// divisions and without calls of the SystemC library where the answer is known or tabulated.
class CycleClock {
 public:
  explicit CycleClock(support::ClockDomain& domain)
      : domain_(domain),
        period_(domain.period().value()),
        per_cycle_(1.0 / static_cast<double>(period_)),
        one_(domain.period()) {}
  support::ClockDomain& domain() const { return domain_; }
  std::uint64_t now() const { return domain_.now(); }
  const sc_core::sc_time& time(std::uint64_t cycles) const { return domain_.time(cycles); }
  const sc_core::sc_time& one() const { return one_; }
  /// Cycles of an annotated delay, rounded up.
  std::uint64_t cycles(const sc_core::sc_time& delay) const {
    const std::uint64_t value = delay.value();
    if (value == period_) return 1;
    const auto whole = static_cast<std::uint64_t>(
        static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(value)) * per_cycle_ + 0.25));
    return whole * period_ == value ? whole : (value + period_ - 1) / period_;
  }
  /// Whether this is the beginning of a cycle, and `delay` has no fraction of one.
  bool whole(const sc_core::sc_time& delay) const {
    return domain_.on_cycle() && cycles(delay) * period_ == delay.value();
  }
  /// When something sent with this delay is seen: never in the cycle of the call, so that the order in which
  /// SystemC runs the processes of one cycle has no influence.
  std::uint64_t arrival(std::uint64_t now, const sc_core::sc_time& delay) const {
    const std::uint64_t c = cycles(delay);
    return now + (c == 0 ? 1 : c);
  }

 private:
  support::ClockDomain& domain_;
  std::uint64_t period_;
  double per_cycle_;
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
