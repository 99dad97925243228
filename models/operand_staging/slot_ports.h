// SPDX-License-Identifier: Apache-2.0
//
// The two ports of a bank, tag and data: each does one job per cycle. Remembers which cycles are given away.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace regatta::models {

class SlotPorts {
 public:
  enum Port : unsigned { tag, data };

  /// The first free cycle of the port at or after `at`, given away. `now` is the present cycle; cycles before now - 1
  /// are forgotten.
  std::uint64_t reserve(Port port, std::uint64_t now, std::uint64_t at) {
    const std::uint64_t free = free_from(of_[port].bits, at);
    if (__builtin_expect(free == 0, 0)) return reserve_far(port, now, at);
    const std::uint64_t slot = at + first(free);
    of_[port].bits |= bit(slot);
    return slot;
  }
  /// The same for a job that needs both in the same cycle.
  std::uint64_t reserve_both(std::uint64_t now, std::uint64_t at) {
    const std::uint64_t free = free_from(of_[tag].bits | of_[data].bits, at);
    if (__builtin_expect(free == 0, 0)) return reserve_both_far(now, at);
    const std::uint64_t slot = at + first(free);
    of_[tag].bits |= bit(slot);
    of_[data].bits |= bit(slot);
    return slot;
  }
  /// Whether the port's cycle before `now`, which is 1 at least, was given away.
  bool used_before(Port port, std::uint64_t now) {
    const std::uint64_t place = now - 1 - base_;
    if (place < window) return (of_[port].bits >> place & 1) != 0;
    advance(now);
    return (of_[port].bits & 1) != 0;
  }
  /// Cycles from `at` to the port's first free one.
  std::uint64_t backlog(Port port, std::uint64_t now, std::uint64_t at) {
    const std::uint64_t free = free_from(of_[port].bits, at);
    return free != 0 ? first(free) : backlog_far(port, now, at);
  }

 private:
  static constexpr std::uint64_t window = 64;

  /// A port's cycles that are given away.
  struct Taken {
    std::uint64_t bits = 0;                    ///< in the window
    std::uint64_t far_first = 0, far_end = 0;  ///< beyond it: all from far_first up to far_end
  };

  // The window is moved only when a job does not fit into it where it lies: most do.
  static unsigned first(std::uint64_t free) { return static_cast<unsigned>(__builtin_ctzll(free)); }
  /// Bit i: cycle `at` + i lies in the window as it is, and is free by `bits`. 0 where `at` lies outside.
  std::uint64_t free_from(std::uint64_t bits, std::uint64_t at) const {
    return at - base_ < window ? ~bits >> (at - base_) : 0;
  }
  std::uint64_t bit(std::uint64_t slot) const { return std::uint64_t{1} << (slot - base_); }

  [[gnu::noinline, gnu::cold]] std::uint64_t reserve_far(Port port, std::uint64_t now, std::uint64_t at) {
    advance(now);
    return give(port, first_free(of_[port].bits, of_[port].far_end, at));
  }
  [[gnu::noinline, gnu::cold]] std::uint64_t reserve_both_far(std::uint64_t now, std::uint64_t at) {
    advance(now);
    const std::uint64_t slot =
        first_free(of_[tag].bits | of_[data].bits, std::max(of_[tag].far_end, of_[data].far_end), at);
    give(tag, slot);
    return give(data, slot);
  }
  [[gnu::noinline, gnu::cold]] std::uint64_t backlog_far(Port port, std::uint64_t now, std::uint64_t at) {
    advance(now);
    return first_free(of_[port].bits, of_[port].far_end, at) - at;
  }

  std::uint64_t first_free(std::uint64_t bits, std::uint64_t far_end, std::uint64_t at) const {
    if (at < base_) at = base_;
    if (at < base_ + window) {
      const std::uint64_t free = ~bits >> (at - base_) << (at - base_);
      if (free != 0) return base_ + first(free);
      at = base_ + window;
    }
    return std::max(at, far_end);
  }
  std::uint64_t give(Port port, std::uint64_t slot) {
    if (slot < base_ + window) {
      of_[port].bits |= bit(slot);
    } else {
      // Beyond the window all cycles up to the last one given away count as given away.
      Taken& of = of_[port];
      if (of.far_first >= of.far_end) of.far_first = slot;
      of.far_end = slot + 1;
    }
    return slot;
  }
  [[gnu::noinline, gnu::cold]] void advance(std::uint64_t now) {
    const std::uint64_t to = now == 0 ? 0 : now - 1;
    if (to <= base_) return;
    const std::uint64_t n = to - base_;
    base_ = to;
    for (Taken& of : of_) {
      of.bits = n < window ? of.bits >> n : 0;
      for (; of.far_first < of.far_end && of.far_first < base_ + window; ++of.far_first) {
        if (of.far_first >= base_) of.bits |= bit(of.far_first);
      }
    }
  }

  std::uint64_t base_ = 0;  ///< the cycle of bit 0
  std::array<Taken, 2> of_;
};

}  // namespace regatta::models
