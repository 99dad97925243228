// SPDX-License-Identifier: Apache-2.0
//
// The pending-retry queue (WIR section VI-B): instructions that wait for a result that another one is computing. A
// FIFO: in a cycle in which no new instruction arrives from rename, the head repeats its lookup, and goes to the tail
// if the result is still pending.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::models::wir {

class RetryFifo {
 public:
  explicit RetryFifo(unsigned entries) : most_(entries) {}

  bool empty() const { return queue_.empty(); }
  bool full() const { return queue_.size() >= most_; }
  std::size_t size() const { return queue_.size(); }
  // As in LookupQueue, functions that change the queue are not inlined.
  [[gnu::noinline]] void push(protocol::DynamicInstruction& d) {
    queue_.insert(queue_.begin() + static_cast<std::ptrdiff_t>(head_), &d);
    if (++head_ == queue_.size()) head_ = 0;
  }

  /// The instruction that retries in cycle `now`. Called in every cycle in which there may be work; in each cycle
  /// between, the head retried without success and went to the tail. `looked` is increased by these retries.
  protocol::DynamicInstruction* head(std::uint64_t now, std::uint64_t& looked) {
    const std::uint64_t slept = now > last_ + 1 ? now - last_ - 1 : 0;
    last_ = now;
    if (queue_.empty()) return nullptr;
    if (slept != 0) pass_over(slept, looked);
    return queue_[head_];
  }
  /// An instruction enters an empty queue in cycle `now`: there were no retries before.
  void begin(std::uint64_t now) { last_ = now; }
  /// Its result is still pending.
  void to_tail() {
    rotate(1);
    if (due_ != 0) --due_;
  }
  [[gnu::noinline]] void pop() {
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(head_));
    if (head_ == queue_.size()) head_ = 0;
  }

  /// A result has arrived, or an entry was removed: all waiting instructions have to retry.
  void retry_all() { due_ = queue_.size(); }
  bool must_retry() const { return due_ != 0 && !queue_.empty(); }

 private:
  [[gnu::noinline]] void pass_over(std::uint64_t cycles, std::uint64_t& looked) {
    looked += cycles;
    rotate(cycles % queue_.size());
  }
  void rotate(std::uint64_t by) {
    head_ += by;
    while (head_ >= queue_.size()) head_ -= queue_.size();
  }
  std::size_t most_;
  std::vector<protocol::DynamicInstruction*> queue_;  ///< a ring of as many as wait
  std::size_t head_ = 0;
  std::uint64_t last_ = 0;
  std::size_t due_ = 0;  ///< retries until all have retried
};

}  // namespace regatta::models::wir
