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
    const std::uint64_t free = free_from(bits(port), at);
    if (__builtin_expect(free == 0, 0)) return reserve_far(port, now, at);
    const std::uint64_t slot = at + first(free);
    bits(port) |= bit(slot);
    return slot;
  }
  /// The same for a job that needs both in the same cycle.
  std::uint64_t reserve_both(std::uint64_t now, std::uint64_t at) {
    const std::uint64_t free = free_from(tag_bits_ | data_bits_, at);
    if (__builtin_expect(free == 0, 0)) return reserve_both_far(now, at);
    const std::uint64_t slot = at + first(free);
    tag_bits_ |= bit(slot);
    data_bits_ |= bit(slot);
    return slot;
  }
  /// Whether the port's cycle before `now`, which is 1 at least, was given away.
  bool used_before(Port port, std::uint64_t now) {
    const std::uint64_t place = now - 1 - base_;
    if (place < window) return (bits(port) >> place & 1) != 0;
    advance(now);
    return (bits(port) & 1) != 0;
  }
  /// Cycles from `at` to the port's first free one.
  std::uint64_t backlog(Port port, std::uint64_t now, std::uint64_t at) {
    const std::uint64_t free = free_from(bits(port), at);
    return free != 0 ? first(free) : backlog_far(port, now, at);
  }

 private:
  static constexpr std::uint64_t window = 64;

  // The window is moved only when a job does not fit into it where it lies: most do.
  static unsigned first(std::uint64_t free) { return static_cast<unsigned>(__builtin_ctzll(free)); }
  /// Bit i: cycle `at` + i lies in the window as it is, and is free by `bits`. 0 where `at` lies outside.
  std::uint64_t free_from(std::uint64_t bits, std::uint64_t at) const {
    return at - base_ < window ? ~bits >> (at - base_) : 0;
  }
  std::uint64_t bit(std::uint64_t slot) const { return std::uint64_t{1} << (slot - base_); }

  [[gnu::noinline, gnu::cold]] std::uint64_t reserve_far(Port port, std::uint64_t now, std::uint64_t at) {
    advance(now);
    return give(port, first_free(bits(port), far_[port].end, at));
  }
  [[gnu::noinline, gnu::cold]] std::uint64_t reserve_both_far(std::uint64_t now, std::uint64_t at) {
    advance(now);
    const std::uint64_t slot = first_free(tag_bits_ | data_bits_, std::max(far_[tag].end, far_[data].end), at);
    give(tag, slot);
    return give(data, slot);
  }
  [[gnu::noinline, gnu::cold]] std::uint64_t backlog_far(Port port, std::uint64_t now, std::uint64_t at) {
    advance(now);
    return first_free(bits(port), far_[port].end, at) - at;
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
      bits(port) |= bit(slot);
    } else {
      // Beyond the window all cycles up to the last one given away count as given away.
      Far& far = far_[port];
      if (far.first >= far.end) far.first = slot;
      far.end = slot + 1;
    }
    return slot;
  }
  [[gnu::noinline, gnu::cold]] void advance(std::uint64_t now) {
    const std::uint64_t to = now == 0 ? 0 : now - 1;
    if (to <= base_) return;
    const std::uint64_t n = to - base_;
    base_ = to;
    for (const Port port : {tag, data}) {
      bits(port) = n < window ? bits(port) >> n : 0;
      Far& far = far_[port];
      for (; far.first < far.end && far.first < base_ + window; ++far.first) {
        if (far.first >= base_) bits(port) |= bit(far.first);
      }
    }
  }

  std::uint64_t& bits(Port port) { return port == tag ? tag_bits_ : data_bits_; }

  // What every job touches comes first. The cycles that are given away, in the window, a bit each:
  std::uint64_t tag_bits_ = 0;
  std::uint64_t base_ = 0;  ///< the cycle of bit 0
  std::uint64_t data_bits_ = 0;
  /// And those beyond it: all from `first` up to `end`.
  struct Far {
    std::uint64_t first = 0, end = 0;
  };
  std::array<Far, 2> far_;
};

}  // namespace regatta::models
