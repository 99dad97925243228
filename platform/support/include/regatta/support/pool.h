// SPDX-License-Identifier: Apache-2.0
//
// A pool of objects that are used over and over: no allocation in the steady state.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace regatta::support {

/// Hands out objects and takes them back. Objects are made a chunk at a time, stay at their address, and come back as
/// they were left (so that what they own is reused too): the caller resets what it needs. The last one released is
/// the first handed out again. Not thread safe. The pool must outlive the use of its objects.
template <typename T, std::size_t ChunkSize = 256>
class Pool {
  static_assert(ChunkSize > 0, "a chunk holds at least one object");

 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  T* acquire() {
    if (free_.empty()) grow();
    T* object = free_.back();
    free_.pop_back();
    return object;
  }
  /// `object` must have come from this pool's acquire() and not have been released since.
  void release(T* object) { free_.push_back(object); }

  /// Gives the object back when the handle goes.
  struct Returner {
    Pool* pool;
    void operator()(T* object) const { pool->release(object); }
  };
  using Handle = std::unique_ptr<T, Returner>;
  Handle make() { return Handle(acquire(), Returner{this}); }

  std::size_t capacity() const { return chunks_.size() * ChunkSize; }
  std::size_t in_use() const { return capacity() - free_.size(); }

 private:
  void grow() {
    chunks_.push_back(std::make_unique<T[]>(ChunkSize));
    free_.reserve(capacity());  // release() never allocates
    for (std::size_t i = ChunkSize; i-- > 0;) free_.push_back(&chunks_.back()[i]);
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<T*> free_;
};

}  // namespace regatta::support
