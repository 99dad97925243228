// SPDX-License-Identifier: Apache-2.0
//
// Instructions that have reached the reuse stage and wait: for their registers to be renamed, or for a port of the
// reuse buffer.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::models::wir {

/// Lookups are made in order of issue; what does not look up (it only waits for renaming) passes them. Whose turn it is
/// is known without a walk over all that wait: there can be as many as the warps have instructions in flight.
class LookupQueue {
 public:
  // What changes the queue is no part of its callers, which are inlined as a whole: the host's instruction cache is
  // short.
  bool empty() const { return lookups_.empty() && others_.empty(); }
  /// The instruction waits behind all others; `since`: the first cycle in which it can go on.
  [[gnu::noinline]] void push(protocol::DynamicInstruction& d, std::uint64_t since, bool looks_up) {
    (looks_up ? lookups_ : others_).push({&d, since, ++order_});
  }
  /// It waits no more.
  [[gnu::noinline]] void remove(const protocol::DynamicInstruction& d) {
    if (lookups_.remove(d)) {
      tried_ = 0;
    } else {
      others_.remove(d);
    }
  }
  /// The one that looks up before all others; null when none can in cycle `now`.
  protocol::DynamicInstruction* first(std::uint64_t now) const {
    const Waiting* const w = lookups_.first(now);
    return w == nullptr ? nullptr : w->instruction;
  }
  /// first() could not look up in cycle `now`, and nobody behind it can.
  void tried(std::uint64_t now) { tried_ = now + 1; }
  /// One that can go on in cycle `now`, or first() unless it was tried; in order of issue, null when there is none.
  protocol::DynamicInstruction* next(std::uint64_t now) const {
    const Waiting* const look = tried_ == now + 1 ? nullptr : lookups_.first(now);
    const Waiting* const other = others_.first(now);
    if (other != nullptr && (look == nullptr || other->order < look->order)) return other->instruction;
    return look == nullptr ? nullptr : look->instruction;
  }

 private:
  struct Waiting {
    protocol::DynamicInstruction* instruction = nullptr;
    std::uint64_t since = 0;
    std::uint64_t order = 0;
  };
  /// In order of issue. Most leave at the front.
  class List {
   public:
    bool empty() const { return head_ == items_.size(); }
    void push(const Waiting& w) { items_.push_back(w); }
    bool remove(const protocol::DynamicInstruction& d) {
      const auto at = std::find_if(begin(), items_.end(), [&](const Waiting& w) { return w.instruction == &d; });
      if (at == items_.end()) return false;
      if (at != begin()) {
        items_.erase(at);
        return true;
      }
      if (++head_ >= gap && 2 * head_ >= items_.size()) {
        items_.erase(items_.begin(), begin());
        head_ = 0;
      }
      return true;
    }
    /// The first that can go on: not all can at the same time, since some take longer to be renamed.
    const Waiting* first(std::uint64_t now) const {
      for (std::size_t i = head_; i < items_.size(); ++i) {
        if (items_[i].since <= now) return &items_[i];
      }
      return nullptr;
    }

   private:
    std::vector<Waiting>::iterator begin() { return items_.begin() + static_cast<std::ptrdiff_t>(head_); }
    static constexpr std::size_t gap = 64;  ///< places at the front left unused before the rest moves up
    std::vector<Waiting> items_;
    std::size_t head_ = 0;
  };
  List lookups_, others_;
  std::uint64_t order_ = 0;
  std::uint64_t tried_ = 0;  ///< the last cycle in which first() could not look up, + 1
};

}  // namespace regatta::models::wir
