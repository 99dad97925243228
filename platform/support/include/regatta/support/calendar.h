// SPDX-License-Identifier: Apache-2.0
//
// Timed work in whole cycles: a ring of lists, one per cycle, with a bitmap that finds the next non-empty one.
// The entries of all lists come from one pool, the last freed first, so that what is touched stays small whatever the
// ring's size. Work further away than the ring waits in a heap. No allocation once the pool has grown.
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
  Calendar() { ring_.fill(List{none, none}); }

  // Several times per instruction: a call would cost as much as the work.
  [[gnu::always_inline]] void schedule(std::uint64_t at, const Item& item) {
    if (at - base_ >= ring_size) return schedule_far(at, item);
    const std::uint32_t entry = take(item);
    List& list = ring_[occupied_.slot(at)];
    if (list.first == none) {
      list.first = entry;
      occupied_.mark(at);
    } else {
      pool_[list.last].next = entry;
    }
    list.last = entry;
  }

  /// Hands every item of cycle `now` to `f`, in order of scheduling. Cycles must be visited in ascending order
  /// and none that holds work may be skipped; `f` may schedule for later cycles, and for this one.
  template <class F>
  void drain(std::uint64_t now, F&& f) {
    base_ = now;
    while (!far_.empty() && far_.front().at - base_ < ring_size) {
      std::pop_heap(far_.begin(), far_.end(), later);
      const Far far = far_.back();
      far_.pop_back();
      schedule(far.at, far.item);
    }
    List& list = ring_[occupied_.slot(now)];
    if (list.first == none) return;
    for (std::uint32_t entry = list.first; entry != none;) {
      const Item item = pool_[entry].item;  // a copy: `f` may grow the pool
      f(item);
      const std::uint32_t next = pool_[entry].next;  // after `f`, which may have appended to this list
      pool_[entry].next = free_;
      free_ = entry;
      entry = next;
    }
    list = List{none, none};
    occupied_.clear(now);
  }

  /// Shows `f` what is known so far for cycle `at`, which lies within the ring; for looking ahead only.
  template <class F>
  void look_ahead(std::uint64_t at, F&& f) const {
    for (std::uint32_t e = ring_[occupied_.slot(at)].first; e != none; e = pool_[e].next) f(pool_[e].item);
  }

  /// Shows `f` everything that is scheduled, in no particular order. Slow: for reports and rare questions.
  template <class F>
  void for_each(F&& f) const {
    for (std::uint64_t at = base_ + 1; at < base_ + ring_size; ++at) look_ahead(at, f);
    for (const Far& far : far_) f(far.item);
  }

  /// The earliest cycle after the last drained one that holds work; no_cycle if none does.
  std::uint64_t next() const {
    const std::uint64_t near = occupied_.next_after(base_);
    return near == no_cycle && !far_.empty() ? far_.front().at : near;
  }

 private:
  static constexpr std::size_t ring_size = 1024;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Entry {
    Item item;
    std::uint32_t next;
  };
  struct List {
    std::uint32_t first, last;
  };
  struct Far {
    std::uint64_t at;
    Item item;
    std::uint64_t sequence;
  };
  [[gnu::noinline]] void schedule_far(std::uint64_t at, const Item& item) {
    far_.push_back(Far{at, item, far_sequence_++});
    std::push_heap(far_.begin(), far_.end(), later);
  }
  [[gnu::always_inline]] std::uint32_t take(const Item& item) {
    if (free_ == none) {
      pool_.push_back(Entry{item, none});
      return static_cast<std::uint32_t>(pool_.size() - 1);
    }
    const std::uint32_t entry = free_;
    free_ = pool_[entry].next;
    pool_[entry] = Entry{item, none};
    return entry;
  }
  static bool later(const Far& a, const Far& b) { return a.at != b.at ? b.at < a.at : b.sequence < a.sequence; }

  std::array<List, ring_size> ring_;
  std::vector<Entry> pool_;
  std::uint32_t free_ = none;
  CycleRing<ring_size> occupied_;
  std::vector<Far> far_;
  std::uint64_t far_sequence_ = 0;
  std::uint64_t base_ = 0;
};

}  // namespace regatta::support
