// SPDX-License-Identifier: Apache-2.0
//
// What an L1 can look up, and move, in one cycle.
#pragma once

#include <cstdint>

namespace regatta::memory {

/// The ports of an L1: `tags` requests in a cycle, each for one line, of `sectors` sectors together, and one in each of
/// `banks` banks of tags. Requests are looked up in order.
///
/// With a limit of sectors or banks, a request that does not fit into this cycle may take a place in the next one in
/// advance: the initiator learns only a cycle later that it may send again, and the rest of that cycle would be lost.
///
/// A line's bank is its number folded by exclusive or. Neighbouring lines are in different banks, and no stride stays
/// in one; of lines at random, four banks look up 2.2 in a cycle. (Our choice. On an H100, sad_4x4 looks up at
/// least 3.0, whose lines are neighbours, and syr2k 2.1, whose lines are 4.7 apart: no number of tags without banks
/// does both.)
class LookupPorts {
 public:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  /// `sectors` 0: any number. `banks` 0: any lines; otherwise a power of two, as `line_bytes` is.
  LookupPorts(unsigned tags, unsigned sectors, unsigned banks, unsigned line_bytes)
      : tags_(tags), sectors_(sectors), banks_(banks), bits_(log2(banks)), line_bits_(log2(line_bytes)) {}

  /// The cycle, `now` or the next one, in which a request for so many sectors of a line can be looked up; never: it has
  /// to wait.
  std::uint64_t earliest(std::uint64_t now, std::uint64_t address, unsigned sectors) const {
    if (cycle_ == never || cycle_ < now) return now;
    if (fits(address, sectors)) return cycle_;
    return cycle_ == now && (sectors_ != 0 || banks_ > 1) ? now + 1 : never;
  }
  /// Whether the initiator may send one more request in this cycle: it may send `tags` of them. One of these that finds
  /// no place is held by the L1, and holds back the others.
  bool open(std::uint64_t now) const { return asked_at_ != now || asked_ < tags_; }
  /// A request that is sent in cycle `now` is looked up in `cycle`.
  void take(std::uint64_t now, std::uint64_t cycle, std::uint64_t address, unsigned sectors) {
    if (asked_at_ != now) asked_ = 0;
    asked_at_ = now;
    ++asked_;
    if (cycle_ != cycle) {
      cycle_ = cycle;
      taken_ = moved_ = 0;
      used_ = 0;
    }
    ++taken_;
    moved_ += sectors;
    if (banks_ > 1) used_ |= std::uint64_t{1} << bank(address);
  }
  unsigned bank(std::uint64_t address) const {
    if (banks_ <= 1) return 0;
    std::uint64_t folded = 0;
    for (std::uint64_t line = address >> line_bits_; line != 0; line >>= bits_) folded ^= line;
    return static_cast<unsigned>(folded & (banks_ - 1));
  }

 private:
  static unsigned log2(unsigned n) {
    unsigned bits = 0;
    while ((2u << bits) <= n) ++bits;
    return bits;
  }
  bool fits(std::uint64_t address, unsigned sectors) const {
    if (taken_ >= tags_) return false;
    if (sectors_ != 0 && moved_ + sectors > sectors_) return false;
    return banks_ <= 1 || (used_ >> bank(address) & 1) == 0;
  }

  unsigned tags_, sectors_, banks_;
  unsigned bits_, line_bits_;       ///< of a bank's number, and of an address within a line
  std::uint64_t cycle_ = never;     ///< of the last request
  unsigned taken_ = 0, moved_ = 0;  ///< requests of that cycle, and their sectors
  std::uint64_t asked_at_ = never;  ///< the cycle in which the last request was sent
  unsigned asked_ = 0;              ///< requests that were sent in it
  std::uint64_t used_ = 0;          ///< banks
};

}  // namespace regatta::memory
