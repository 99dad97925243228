// SPDX-License-Identifier: Apache-2.0
//
// Finite first-in first-out queues whose entries become visible, or leave, in a given cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace regatta::memory {

/// T has a member `std::uint64_t ready`. Entries are pushed in any order of `ready` but leave in the order of the
/// pushes. A slot that is freed in a cycle can be given away from the next cycle on: whether a neighbour is
/// refused does then not depend on which of the two processes ran first.
template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity = 1) : capacity_(capacity) {
    std::size_t size = 4;
    while (size < capacity + 2) size *= 2;
    ring_.resize(size);
    mask_ = size - 1;
  }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::uint64_t max_size() const { return max_size_; }
  const std::uint64_t& max_size_counter() const { return max_size_; }

  bool has_room(std::uint64_t now, std::size_t wanted = 1) const {
    return size_ + (popped_at_ == now ? popped_ : 0) + wanted <= capacity_;
  }
  /// Empty, and has been all through this cycle: the same whichever neighbour runs first.
  bool unused(std::uint64_t now) const { return size_ == 0 && popped_at_ != now; }
  bool ready(std::uint64_t now) const { return size_ != 0 && ring_[head_].ready <= now; }
  /// Cycle in which the first entry is visible; all ones when there is none.
  std::uint64_t next() const { return size_ == 0 ? ~std::uint64_t{0} : ring_[head_].ready; }
  T& front() { return ring_[head_]; }
  const T& at(std::size_t index) const { return ring_[(head_ + index) & mask_]; }
  const T& front() const { return ring_[head_]; }

  void push(T entry) {
    if (size_ > mask_) grow();
    ring_[(head_ + size_) & mask_] = std::move(entry);
    if (++size_ > max_size_) max_size_ = size_;
  }
  void pop(std::uint64_t now) {
    --size_;
    // One that is mostly short stays in the same lines of the host's cache.
    head_ = size_ == 0 ? 0 : (head_ + 1) & mask_;
    if (popped_at_ != now) {
      popped_at_ = now;
      popped_ = 0;
    }
    ++popped_;
  }

 private:
  [[gnu::noinline, gnu::cold]] void grow() {
    std::vector<T> bigger(ring_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) bigger[i] = std::move(ring_[(head_ + i) & mask_]);
    ring_.swap(bigger);
    mask_ = ring_.size() - 1;
    head_ = 0;
  }

  std::size_t capacity_;
  std::vector<T> ring_;
  std::size_t mask_ = 0;  // its size is a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  std::uint64_t max_size_ = 0;
  std::uint64_t popped_at_ = ~std::uint64_t{0};
  std::size_t popped_ = 0;
};

/// The receiving end of a link whose sender calls ahead of time: holds what is on the wires and what has arrived. The
/// capacity counts what has arrived; what is on the wires when that fills up still finds a place, as in a link with a
/// skid buffer, and the sender bounds it. Entries are pushed in the order of `ready`.
template <class T>
class ArrivalQueue {
 public:
  explicit ArrivalQueue(std::size_t capacity) : capacity_(capacity), queue_(2 * capacity) {}
  bool empty() const { return queue_.empty(); }
  bool unused(std::uint64_t now) const { return queue_.unused(now); }
  bool ready(std::uint64_t now) const { return queue_.ready(now); }
  std::uint64_t next() const { return queue_.next(); }
  const T& front() const { return queue_.front(); }
  bool has_room(std::uint64_t now) {
    advance(now);
    return arrived_ + (popped_at_ == now ? popped_ : 0) < capacity_;
  }
  void push(const T& entry) { queue_.push(entry); }
  void pop(std::uint64_t now) {
    advance(now);
    --arrived_;
    queue_.pop(now);
    if (popped_at_ != now) {
      popped_at_ = now;
      popped_ = 0;
    }
    ++popped_;
  }
  /// Most entries that had arrived at a time.
  const std::uint64_t& max_arrived_counter() const { return max_arrived_; }

 private:
  void advance(std::uint64_t now) {
    while (arrived_ < queue_.size() && queue_.at(arrived_).ready <= now) ++arrived_;
    if (arrived_ > max_arrived_) max_arrived_ = arrived_;
  }
  std::size_t capacity_;
  BoundedQueue<T> queue_;
  std::size_t arrived_ = 0;
  std::uint64_t max_arrived_ = 0;
  std::uint64_t popped_at_ = ~std::uint64_t{0};
  std::size_t popped_ = 0;
};

/// Who is in a queue whose departures are known on arrival: the cycles in which they leave, ascending. A place is free
/// from the cycle after a departure on.
class DepartureRing {
 public:
  explicit DepartureRing(std::size_t capacity) {
    std::size_t size = 4;
    while (size < capacity + 1) size *= 2;
    ring_.resize(size);
    mask_ = size - 1;
  }
  /// Places taken in cycle `at`. `at` must not descend.
  std::size_t occupied(std::uint64_t at) {
    while (size_ != 0 && ring_[head_] < at) {
      head_ = (head_ + 1) & mask_;
      --size_;
    }
    return size_;
  }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// The next departure; there must be one.
  std::uint64_t first() const { return ring_[head_]; }
  void push(std::uint64_t departure) {
    if (size_ > mask_) grow();
    ring_[(head_ + size_++) & mask_] = departure;
  }

 private:
  [[gnu::noinline, gnu::cold]] void grow() {
    std::vector<std::uint64_t> bigger(ring_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) bigger[i] = ring_[(head_ + i) & mask_];
    ring_.swap(bigger);
    mask_ = ring_.size() - 1;
    head_ = 0;
  }
  std::vector<std::uint64_t> ring_;
  std::size_t mask_ = 0;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace regatta::memory
