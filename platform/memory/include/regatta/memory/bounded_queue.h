// SPDX-License-Identifier: Apache-2.0
//
// A finite first-in first-out queue whose entries become visible in a given cycle.
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
  }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::uint64_t max_size() const { return max_size_; }
  const std::uint64_t& max_size_counter() const { return max_size_; }

  bool has_room(std::uint64_t now, std::size_t wanted = 1) const {
    return size_ + (popped_at_ == now ? popped_ : 0) + wanted <= capacity_;
  }
  bool ready(std::uint64_t now) const { return size_ != 0 && ring_[head_].ready <= now; }
  /// Cycle in which the first entry is visible; all ones when there is none.
  std::uint64_t next() const { return size_ == 0 ? ~std::uint64_t{0} : ring_[head_].ready; }
  T& front() { return ring_[head_]; }
  const T& front() const { return ring_[head_]; }

  void push(T entry) {
    if (size_ == ring_.size()) grow();
    ring_[(head_ + size_) & (ring_.size() - 1)] = std::move(entry);
    if (++size_ > max_size_) max_size_ = size_;
  }
  void pop(std::uint64_t now) {
    head_ = (head_ + 1) & (ring_.size() - 1);
    --size_;
    if (popped_at_ != now) {
      popped_at_ = now;
      popped_ = 0;
    }
    ++popped_;
  }

 private:
  void grow() {
    std::vector<T> bigger(ring_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) bigger[i] = std::move(ring_[(head_ + i) & (ring_.size() - 1)]);
    ring_.swap(bigger);
    head_ = 0;
  }

  std::size_t capacity_;
  std::vector<T> ring_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  std::uint64_t max_size_ = 0;
  std::uint64_t popped_at_ = ~std::uint64_t{0};
  std::size_t popped_ = 0;
};

}  // namespace regatta::memory
