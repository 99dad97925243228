// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace regatta::support {

/// FIFO that grows as needed and never shrinks: no allocation in steady state.
template <class T>
class Ring {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  T& front() { return items_[head_]; }
  void push(const T& item) {
    if (count_ == mask_ + 1) grow();
    items_[(head_ + count_) & mask_] = item;
    ++count_;
  }
  void pop() {
    --count_;
    // A mostly short queue stays in the same lines of the host's cache.
    head_ = count_ == 0 ? 0 : (head_ + 1) & mask_;
  }
  /// The i-th oldest entry.
  T& operator[](std::size_t i) { return items_[(head_ + i) & mask_]; }
  const T& operator[](std::size_t i) const { return items_[(head_ + i) & mask_]; }
  bool holds(const T& item) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if ((*this)[i] == item) return true;
    }
    return false;
  }

 private:
  [[gnu::noinline, gnu::cold]] void grow() {
    std::vector<T> bigger(items_.empty() ? 16 : items_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) bigger[i] = items_[(head_ + i) & mask_];
    items_.swap(bigger);
    mask_ = items_.size() - 1;
    head_ = 0;
  }
  std::vector<T> items_;
  std::size_t mask_ = ~std::size_t{0};  ///< the size, a power of two, less 1
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace regatta::support
