// SPDX-License-Identifier: Apache-2.0
//
// Timed work in whole cycles: a ring of buckets, one per cycle, with a bitmap that finds the next non-empty one.
// Work further away than the ring waits in a heap. No allocation once the buckets have grown.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace regatta::support {

/// Later than any cycle.
inline constexpr std::uint64_t no_cycle = ~std::uint64_t{0};

template <class Item>
class Calendar {
 public:
  void schedule(std::uint64_t at, const Item& item) {
    if (at - base_ < ring_size) {
      const std::size_t slot = at % ring_size;
      ring_[slot].push_back(item);
      occupied_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    } else {
      far_.push_back(Far{at, item, far_sequence_++});
      std::push_heap(far_.begin(), far_.end(), later);
    }
  }

  /// Hands every item of cycle `now` to `f`, in order of scheduling. Cycles must be visited in ascending order
  /// and none that holds work may be skipped; `f` may schedule for later cycles.
  template <class F>
  void drain(std::uint64_t now, F&& f) {
    base_ = now;
    while (!far_.empty() && far_.front().at - base_ < ring_size) {
      std::pop_heap(far_.begin(), far_.end(), later);
      const Far far = far_.back();
      far_.pop_back();
      schedule(far.at, far.item);
    }
    const std::size_t slot = now % ring_size;
    std::vector<Item>& bucket = ring_[slot];
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      const Item item = bucket[i];  // a copy: `f` may grow the bucket
      f(item);
    }
    bucket.clear();
    occupied_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  }

  /// What is known so far for cycle `at`, which lies within the ring; for looking ahead only.
  const std::vector<Item>& upcoming(std::uint64_t at) const { return ring_[at % ring_size]; }

  /// The earliest cycle after the last drained one that holds work; no_cycle if none does.
  std::uint64_t next() const {
    const std::uint64_t start = base_ + 1;
    for (std::size_t step = 0; step < ring_size;) {
      const std::size_t slot = (start + step) % ring_size;
      const std::uint64_t word = occupied_[slot / 64] >> (slot % 64);
      if (word != 0) {
        const auto ahead = static_cast<std::size_t>(__builtin_ctzll(word));
        if (step + ahead < ring_size) return start + step + ahead;
      }
      step += 64 - slot % 64;
    }
    return far_.empty() ? no_cycle : far_.front().at;
  }

 private:
  static constexpr std::size_t ring_size = 1024;
  struct Far {
    std::uint64_t at;
    Item item;
    std::uint64_t sequence;
  };
  static bool later(const Far& a, const Far& b) { return a.at != b.at ? b.at < a.at : b.sequence < a.sequence; }

  std::array<std::vector<Item>, ring_size> ring_;
  std::array<std::uint64_t, ring_size / 64> occupied_{};
  std::vector<Far> far_;
  std::uint64_t far_sequence_ = 0;
  std::uint64_t base_ = 0;
};

}  // namespace regatta::support
