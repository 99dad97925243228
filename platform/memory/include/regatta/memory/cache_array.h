// SPDX-License-Identifier: Apache-2.0
//
// Tags of a set-associative cache with sector masks and true LRU replacement. No time, no sockets.
#pragma once

#include <regatta/memory/divisor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::memory {

class CacheArray {
 public:
  struct Line {
    std::uint64_t address = 0;  ///< of the line's first byte
    std::uint64_t used = 0;     ///< LRU stamp
    std::uint8_t valid = 0;     ///< sectors; 0: the way is free
    std::uint8_t dirty = 0;     ///< sectors
    bool registers = false;     ///< the line holds a register's bytes
    bool local = false;         ///< the line is local memory
  };
  static constexpr std::size_t none = ~std::size_t{0};

  /// What several partitions share: chunks of consecutive lines, one after another in another partition.
  struct Interleave {
    unsigned chunk_bytes = 0;  ///< of consecutive addresses in one partition, a multiple of the line; 0: a line
    unsigned partitions = 1;
  };

  /// Set = the line's number among its partition's lines, mod sets, so that neighbouring lines of a partition fill all
  /// of its sets.
  CacheArray(std::size_t sets, unsigned ways, unsigned line_bytes, Interleave interleave);
  CacheArray(std::size_t sets, unsigned ways, unsigned line_bytes) : CacheArray(sets, ways, line_bytes, Interleave()) {}

  std::size_t find(std::uint64_t address) const {
    const std::size_t first = set_of(address) * ways_;
    for (std::size_t i = first; i < first + used_ways_; ++i) {
      if (lines_[i].address == address && lines_[i].valid != 0) return i;
    }
    return none;
  }
  /// A free way of the set of `address`, otherwise its least recently used one.
  std::size_t victim(std::uint64_t address) const;
  void touch(std::size_t index) { lines_[index].used = ++stamp_; }
  Line& line(std::size_t index) { return lines_[index]; }
  const Line& line(std::size_t index) const { return lines_[index]; }
  std::size_t size() const { return lines_.size(); }
  std::size_t sets() const { return sets_; }
  /// Only the first `ways` of each set hold lines from now on: 1 to all. What the others held is to be emptied by the
  /// caller, for which in_use() tells them.
  void use_ways(unsigned ways) { used_ways_ = ways; }
  bool in_use(std::size_t index) const { return index % ways_ < used_ways_; }
  unsigned ways() const { return ways_; }

 private:
  std::size_t set_of(std::uint64_t address) const {
    const std::uint64_t in_chunk = chunk_lines_.remainder(line_.quotient(address));
    return set_.remainder(round_.quotient(address) * chunk_lines_.value() + in_chunk);
  }
  std::size_t sets_;
  unsigned ways_;
  unsigned used_ways_;
  Divisor line_;         ///< bytes
  Divisor chunk_lines_;  ///< lines of a partition's chunk
  Divisor round_;        ///< bytes in which each partition has one chunk
  Divisor set_;
  std::uint64_t stamp_ = 0;
  std::vector<Line> lines_;
};

}  // namespace regatta::memory
