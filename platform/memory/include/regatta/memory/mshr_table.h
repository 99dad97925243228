// SPDX-License-Identifier: Apache-2.0
//
// Miss status holding registers: the fetches in flight and the requests that wait for them. No time, no sockets.
#pragma once

#include <regatta/memory/transport.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::memory {

/// A fixed number of entries found by line address, each with a bounded list of waiting requests.
/// Several entries may name one line if they fetch different sectors.
class MshrTable {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Entry {
    std::uint64_t address = 0;
    Payload* fetch = nullptr;  ///< the payload of the fetch
    std::uint8_t sectors = 0;  ///< being fetched
    bool own = false;          ///< `fetch` is the cache's payload, not a request's
    bool install = true;       ///< install the line on arrival, and let others join; otherwise closed
    std::uint32_t waiters = 0;
    std::uint32_t first = none, last = none;  ///< waiting requests, in order
    std::uint32_t chain = none;
  };

  MshrTable(unsigned entries, unsigned merge_limit);
  bool full() const { return free_.empty(); }
  std::size_t in_use() const { return entries_.size() - free_.size(); }
  std::uint64_t max_in_use() const { return max_in_use_; }
  const std::uint64_t& max_in_use_counter() const { return max_in_use_; }
  Entry& entry(std::uint32_t index) { return entries_[index]; }
  /// An open entry of the line that fetches at least `sectors`; none if there is none.
  std::uint32_t find(std::uint64_t address, std::uint8_t sectors) const;
  /// The entry of the line whose fetch payload is `fetch`.
  std::uint32_t find(std::uint64_t address, const Payload* fetch) const;
  /// The open entry of the line that a request which misses `missing` joins: one that fetches all of it or, with
  /// `parts`, one of several that do together. None if a fetch is needed; with `parts`, `missing` is then what no open
  /// entry fetches.
  std::uint32_t to_join(std::uint64_t address, std::uint8_t& missing, bool parts) const;
  /// The entry, open or not, that a waiter of `filled` waits for next: it fetches some of `wanted` that are neither
  /// among those of `filled` nor `valid`. None if it has all that it wants.
  std::uint32_t waits_next(std::uint32_t filled, std::uint8_t wanted, std::uint8_t valid) const;
  std::uint32_t allocate(std::uint64_t address, std::uint8_t sectors, Payload* fetch);
  bool can_merge(std::uint32_t index) const { return entries_[index].waiters < merge_limit_; }
  void add_waiter(std::uint32_t index, Payload* waiter);
  Payload* first_waiter(std::uint32_t index) const {
    return entries_[index].first == none ? nullptr : nodes_[entries_[index].first].payload;
  }
  template <class F>
  void for_each_waiter(std::uint32_t index, F&& f) const {
    for (std::uint32_t n = entries_[index].first; n != none; n = nodes_[n].next) f(*nodes_[n].payload);
  }
  void pop_waiter(std::uint32_t index);
  /// The first waiter of `from` waits for `to` from now on, whatever the limit.
  void move_waiter(std::uint32_t from, std::uint32_t to) {
    Payload* const waiter = first_waiter(from);
    pop_waiter(from);
    add_waiter(to, waiter);
  }
  /// The entry has no waiter left.
  void release(std::uint32_t index);
  /// All entries, whether in use or not: `address` and `install` of those with a fetch may be changed.
  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  struct Node {
    Payload* payload = nullptr;
    std::uint32_t next = none;
  };
  /// An entry of the line that fetches one of `sectors` at least, of the open ones or of all.
  std::uint32_t find_any(std::uint64_t address, std::uint8_t sectors, bool only_open) const;
  std::size_t bucket(std::uint64_t address) const {
    return (address * 0x9e3779b97f4a7c15ull >> 32) & (buckets_.size() - 1);
  }
  unsigned merge_limit_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::vector<Node> nodes_;
  std::uint32_t free_node_ = none;
  std::vector<std::uint32_t> buckets_;
  std::uint64_t max_in_use_ = 0;
};

}  // namespace regatta::memory
