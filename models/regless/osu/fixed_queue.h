// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace regatta::models {

/// First in, first out; of a capacity that is known beforehand.
template <class T>
class FixedQueue {
 public:
  explicit FixedQueue(std::size_t capacity)
      : capacity_(static_cast<std::uint32_t>(capacity)), ring_(std::make_unique<T[]>(capacity)) {}
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == capacity_; }
  std::size_t size() const { return size_; }
  T& front() { return ring_[head_]; }
  /// The element `i` places behind the front.
  const T& at(std::size_t i) const { return ring_[place(i)]; }
  void push(const T& value) {
    ring_[place(size_)] = value;
    ++size_;
  }
  void pop() {
    --size_;
    // One that is mostly short stays in the same line of the host's cache.
    head_ = size_ == 0 || head_ + 1 == capacity_ ? 0 : head_ + 1;
  }
  /// Takes out the elements for which `gone(element)` is true.
  template <class Gone>
  void remove_if(Gone&& gone) {
    for (std::size_t n = size_; n != 0; --n) {
      const T value = front();
      pop();
      if (!gone(value)) push(value);
    }
  }

 private:
  /// `i` places behind the front, i at most the capacity: it wraps once at most.
  std::size_t place(std::size_t i) const {
    const std::size_t at = head_ + i;
    return at < capacity_ ? at : at - capacity_;
  }
  std::uint32_t size_ = 0;
  std::uint32_t head_ = 0;
  std::uint32_t capacity_;
  std::unique_ptr<T[]> ring_;
};

}  // namespace regatta::models
