// SPDX-License-Identifier: Apache-2.0
//
// Translation of addresses on the way from an L1 to the L2: when it is known, not what it is. No sockets, no events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace regatta::memory {

/// Off by default. An L1 of virtual addresses needs a translation only for what it sends to the L2.
struct TlbConfig {
  unsigned entries = 0;  ///< pages of an SM's TLB; 0: none, addresses need no translation
  std::uint64_t page_bytes = 2 * 1024 * 1024;
  unsigned latency = 100;                             ///< cycles of a miss that the second level answers
  unsigned queue = 64;                                ///< requests that may wait for a translation
  unsigned second_entries = 0;                        ///< pages of the second level; 0: all pages
  std::uint64_t second_page_bytes = 2 * 1024 * 1024;  ///< a page of the second level, at least one of the first
  unsigned walk_latency = 300;                        ///< further cycles of a miss of the second level
  unsigned walks = 16;                                ///< at a time
};

/// A set of pages with LRU replacement.
class PageSet {
 public:
  explicit PageSet(std::size_t entries) : entries_(entries) {}
  /// Whether it has the page, which is then the youngest.
  bool touch(std::uint64_t page);
  /// Inserts a page that it does not have; the oldest may leave.
  void insert(std::uint64_t page);

 private:
  std::size_t entries_;
  std::list<std::uint64_t> order_;  ///< the youngest first
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> where_;
};

/// An SM's TLB, and what it sees of the second level. Misses are answered independently of each other; several to one
/// page are one. The page is in the TLB from the cycle in which the miss is answered.
class Tlb {
 public:
  explicit Tlb(const TlbConfig& config);
  bool enabled() const { return config_.entries != 0; }
  /// The cycle from which the translation is known: `now` on a hit. Cycles of calls ascend.
  std::uint64_t translate(std::uint64_t address, std::uint64_t now);

  const std::uint64_t& hits() const { return hits_; }
  const std::uint64_t& misses() const { return misses_; }
  const std::uint64_t& merges() const { return merges_; }
  const std::uint64_t& walks() const { return walks_; }

 private:
  struct Miss {
    std::uint64_t page = 0;
    std::uint64_t ready = 0;
  };
  void complete(std::uint64_t now);
  /// The cycle in which the second level, asked in cycle `from`, has the page.
  std::uint64_t second(std::uint64_t page, std::uint64_t from);

  TlbConfig config_;
  PageSet pages_, second_;
  std::vector<Miss> pending_, walking_;
  std::vector<std::uint64_t> walker_free_;  ///< cycle, of each
  std::uint64_t hits_ = 0, misses_ = 0, merges_ = 0, walks_ = 0;
};

}  // namespace regatta::memory
