// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <utility>

namespace regatta::models {

/// Objects that cannot be moved, as modules cannot, one behind the other: an access to the i-th needs no pointer to it,
/// which the host would have to load first.
template <class T>
class InPlaceArray {
 public:
  explicit InPlaceArray(std::size_t capacity)
      : items_(static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t(alignof(T))))),
        capacity_(capacity) {}
  InPlaceArray(const InPlaceArray&) = delete;
  InPlaceArray& operator=(const InPlaceArray&) = delete;
  ~InPlaceArray() {
    while (size_ != 0) items_[--size_].~T();
    ::operator delete(items_, std::align_val_t(alignof(T)));
  }

  template <class... Arguments>
  void emplace_back(Arguments&&... arguments) {
    assert(size_ < capacity_);
    new (items_ + size_) T(std::forward<Arguments>(arguments)...);
    ++size_;
  }
  /// Throws std::out_of_range.
  T& at(std::size_t i) { return i < size_ ? items_[i] : throw std::out_of_range("InPlaceArray::at"); }
  T& operator[](std::size_t i) { return items_[i]; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }

 private:
  T* items_;
  std::size_t size_ = 0, capacity_;
};

}  // namespace regatta::models
