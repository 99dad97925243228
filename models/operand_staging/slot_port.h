// SPDX-License-Identifier: Apache-2.0
//
// One thing that can do one job per cycle: a port of a bank. Remembers which cycles are given away.
#pragma once

#include <algorithm>
#include <cstdint>

namespace regatta::models {

class SlotPort {
 public:
  /// The first free cycle at or after `at`, given away. `now` is the present cycle; cycles before now - 1 are
  /// forgotten.
  std::uint64_t reserve(std::uint64_t now, std::uint64_t at) {
    const std::uint64_t free = free_from(at);
    return free != 0 ? take(at + first(free)) : reserve_far(now, at);
  }
  /// The same for a job that needs two ports in the same cycle.
  static std::uint64_t reserve(SlotPort& a, SlotPort& b, std::uint64_t now, std::uint64_t at) {
    const std::uint64_t free = a.free_from(at) & b.free_from(at);
    if (free == 0) return reserve_far(a, b, now, at);
    a.take(at + first(free));
    return b.take(at + first(free));
  }
  /// Whether the cycle before `now` was given away.
  bool used_before(std::uint64_t now) {
    const std::uint64_t place = now - 1 - base_;
    if (place < window) return (bits_ >> place & 1) != 0;
    advance(now);
    return (bits_ & 1) != 0;
  }
  /// Cycles from `at` to the first free one.
  std::uint64_t backlog(std::uint64_t now, std::uint64_t at) {
    const std::uint64_t free = free_from(at);
    return free != 0 ? first(free) : backlog_far(now, at);
  }

 private:
  static constexpr std::uint64_t window = 64;

  // The window is moved only when a job does not fit into it where it lies: most do.
  static unsigned first(std::uint64_t free) { return static_cast<unsigned>(__builtin_ctzll(free)); }
  /// Bit i: cycle `at` + i lies in the window as it is, and is free. 0 where `at` lies outside.
  std::uint64_t free_from(std::uint64_t at) const { return at - base_ < window ? ~bits_ >> (at - base_) : 0; }
  std::uint64_t take(std::uint64_t slot) {
    bits_ |= std::uint64_t{1} << (slot - base_);
    return slot;
  }

  [[gnu::noinline]] std::uint64_t reserve_far(std::uint64_t now, std::uint64_t at) {
    advance(now);
    return give(first_free(bits_, far_end_, at));
  }
  [[gnu::noinline]] static std::uint64_t reserve_far(SlotPort& a, SlotPort& b, std::uint64_t now, std::uint64_t at) {
    a.advance(now);
    b.advance(now);
    const std::uint64_t slot = a.first_free(a.bits_ | b.bits_, std::max(a.far_end_, b.far_end_), at);
    a.give(slot);
    return b.give(slot);
  }
  [[gnu::noinline]] std::uint64_t backlog_far(std::uint64_t now, std::uint64_t at) {
    advance(now);
    return first_free(bits_, far_end_, at) - at;
  }

  std::uint64_t first_free(std::uint64_t bits, std::uint64_t far_end, std::uint64_t at) const {
    if (at < base_) at = base_;
    if (at < base_ + window) {
      const std::uint64_t free = ~bits >> (at - base_) << (at - base_);
      if (free != 0) return base_ + static_cast<unsigned>(__builtin_ctzll(free));
      at = base_ + window;
    }
    return std::max(at, far_end);
  }
  std::uint64_t give(std::uint64_t slot) {
    if (slot < base_ + window) {
      bits_ |= std::uint64_t{1} << (slot - base_);
    } else {
      // Beyond the window all cycles up to the last one given away count as given away.
      if (far_first_ >= far_end_) far_first_ = slot;
      far_end_ = slot + 1;
    }
    return slot;
  }
  [[gnu::noinline]] void advance(std::uint64_t now) {
    const std::uint64_t to = now == 0 ? 0 : now - 1;
    if (to <= base_) return;
    const std::uint64_t n = to - base_;
    bits_ = n < window ? bits_ >> n : 0;
    base_ = to;
    for (; far_first_ < far_end_ && far_first_ < base_ + window; ++far_first_) {
      if (far_first_ >= base_) bits_ |= std::uint64_t{1} << (far_first_ - base_);
    }
  }

  std::uint64_t base_ = 0;                     ///< the cycle of bit 0
  std::uint64_t bits_ = 0;                     ///< cycles given away
  std::uint64_t far_first_ = 0, far_end_ = 0;  ///< those given away beyond the window
};

}  // namespace regatta::models
