// SPDX-License-Identifier: Apache-2.0
//
// Instructions that wait in the reuse stage, for their registers to be renamed or for a port of the reuse buffer.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::models::wir {

/// Lookups are made in issue order; instructions without a lookup (they only wait for renaming) pass them. The next one
/// is found without a walk over all waiting instructions, of which there can be as many as are in flight.
class LookupQueue {
 public:
  // Functions that change the queue are not inlined into their callers, to save space in the host's instruction cache.
  bool empty() const { return lookups_.empty() && others_.empty(); }
  /// The instruction waits behind all others; `since`: the first cycle in which it can continue.
  [[gnu::noinline]] void push(protocol::DynamicInstruction& d, std::uint64_t since, bool looks_up) {
    (looks_up ? lookups_ : others_).push({&d, since, ++order_});
  }
  /// The instruction no longer waits.
  [[gnu::noinline]] void remove(const protocol::DynamicInstruction& d) {
    if (lookups_.remove(d)) {
      tried_ = 0;
    } else {
      others_.remove(d);
    }
  }
  /// The instruction whose lookup is next; null if none can look up in cycle `now`.
  protocol::DynamicInstruction* first(std::uint64_t now) const {
    const Waiting* const w = lookups_.first(now);
    return w == nullptr ? nullptr : w->instruction;
  }
  /// first() could not look up in cycle `now`, so no instruction behind it can.
  void tried(std::uint64_t now) { tried_ = now + 1; }
  /// An instruction that can continue in cycle `now`, or first() unless it was tried; in issue order, null if there is
  /// none.
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
  /// In issue order. Most leave at the front.
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
    /// The first that can continue: some take longer to be renamed.
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
