// SPDX-License-Identifier: Apache-2.0
//
// The operations on the tags and lists of one bank, for a twin of that state (rtl/README.md). When a line may be taken
// and how much room the write-back buffer has stays with the shard, which passes it on as the lists that it allows.
#pragma once

#include <regatta/cosim/twin.h>

#include <cstdint>
#include <string>

namespace regatta::models {

/// Where a line is. Lines that a region owns, or whose value is on its way, are in no list.
enum class BankList : std::uint8_t { owned, free, clean, dirty };

struct BankOperation {
  /// look_up: the line of (warp, reg). allocate: a line for (warp, reg), the first of the first list that is allowed
  /// and not empty; it is owned then, neither dirty nor defined. The others name the line. own: takes it out of its
  /// list. release: to the list that its value calls for. free: to the free list, without tag. forget: it loses its
  /// tag. mark: sets its bits; a clean line that becomes dirty changes its list.
  enum class Kind : std::uint8_t { look_up, allocate, own, release, free, forget, mark };
  // Flags of allocate: lists that may be taken; of release; of mark.
  static constexpr std::uint8_t may_free = 1, may_clean = 2, may_dirty = 4;
  static constexpr std::uint8_t erase = 1;
  static constexpr std::uint8_t dirty = 1, defined = 2;

  Kind kind = Kind::look_up;
  std::uint8_t flags = 0;
  std::uint8_t reg = 0;
  std::uint16_t warp = 0;  ///< its number in the shard
  std::uint16_t line = 0;  ///< its number in the bank
};

struct BankResult {
  bool found = false;  ///< `line` is one
  bool lost = false;   ///< allocate: the line had the tag (warp, reg), which it has lost
  /// look_up: where the line is; allocate: where it was; own: where it was; forget, mark: where it is; release, free:
  /// where it went.
  BankList list = BankList::owned;
  std::uint8_t reg = 0;
  std::uint16_t warp = 0;
  /// look_up, allocate: the line. Operations that append a line to a list: the line that was the last one before.
  std::uint16_t line = 0;
};
inline bool operator==(const BankResult& a, const BankResult& b) {
  return a.found == b.found && a.lost == b.lost && a.list == b.list && a.reg == b.reg && a.warp == b.warp &&
         a.line == b.line;
}

const char* name(BankList list);
std::string describe(const BankOperation& operation);
std::string describe(const BankResult& result);

/// Sizes that a twin must fit.
struct BankShape {
  unsigned lines = 0;  ///< of a bank
  unsigned warps = 0;  ///< of a shard
};
using BankTwin = cosim::OperationTwin<BankOperation, BankResult>;
using BankTwins = cosim::TwinKinds<BankOperation, BankResult, BankShape>;
/// By the name that osu.implementation selects.
BankTwins& bank_twins();

}  // namespace regatta::models
