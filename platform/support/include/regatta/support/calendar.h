// SPDX-License-Identifier: Apache-2.0
//
// Timed work in whole cycles: a ring of buckets, one per cycle, with a bitmap that finds the next non-empty one.
// Work further away than the ring waits in a heap. No allocation once the buckets have grown.
#pragma once

#include <regatta/support/cycle_ring.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace regatta::support {

template <class Item>
class Calendar {
 public:
  void schedule(std::uint64_t at, const Item& item) {
    if (at - base_ < ring_size) {
      ring_[occupied_.slot(at)].push_back(item);
      occupied_.mark(at);
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
    std::vector<Item>& bucket = ring_[occupied_.slot(now)];
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      const Item item = bucket[i];  // a copy: `f` may grow the bucket
      f(item);
    }
    bucket.clear();
    occupied_.clear(now);
  }

  /// What is known so far for cycle `at`, which lies within the ring; for looking ahead only.
  const std::vector<Item>& upcoming(std::uint64_t at) const { return ring_[occupied_.slot(at)]; }

  /// The earliest cycle after the last drained one that holds work; no_cycle if none does.
  std::uint64_t next() const {
    const std::uint64_t near = occupied_.next_after(base_);
    return near == no_cycle && !far_.empty() ? far_.front().at : near;
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
  CycleRing<ring_size> occupied_;
  std::vector<Far> far_;
  std::uint64_t far_sequence_ = 0;
  std::uint64_t base_ = 0;
};

}  // namespace regatta::support
