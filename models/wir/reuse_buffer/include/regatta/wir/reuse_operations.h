// SPDX-License-Identifier: Apache-2.0
//
// The operations on the entries of a directly indexed reuse buffer, for a twin (platform/cosim): RTL in place of them,
// or beside.
#pragma once

#include <regatta/cosim/twin.h>
#include <regatta/wir/reuse_entries.h>

#include <cstdint>
#include <string>

namespace regatta::models::wir {

/// Names those of ReuseEntries.
struct ReuseOperation {
  enum class Kind : std::uint8_t {
    find,
    claim,
    complete,
    abandon,
    insert,
    evict,       ///< the entry in the place of `fold`, whatever it holds
    drop_load,   ///< of the loads of the CTA `tag.block` (0: of any CTA), the entry with the lowest number
    drop_first,  ///< the valid entry with the lowest number. The drops are repeated until there is none
  };
  Kind kind = Kind::find;
  ReuseTag tag;
  std::uint32_t fold = 0;  ///< tag.fold(), or for evict the number of an entry
  std::uint32_t owner = 0;
  ReuseResult result;  ///< of complete and insert

  static ReuseOperation evict(std::uint32_t fold) { return {Kind::evict, {}, fold, 0, {}}; }
  static ReuseOperation drop_load(std::uint16_t block) {
    ReuseOperation operation{Kind::drop_load, {}, 0, 0, {}};
    operation.tag.block = block;
    return operation;
  }
  static ReuseOperation drop_first() { return {Kind::drop_first, {}, 0, 0, {}}; }
};

/// find: what the entry of the tag has. complete: pending, if the entry was this owner's and got its result. Others:
/// the entry that is dropped or replaced, with its tag.
struct ReuseOutcome {
  ReuseEntries::Found found = ReuseEntries::Found::nothing;
  ReuseTag tag;
  ReuseResult result;  ///< of an entry with a result

  /// The registers to which a dropped entry referred.
  Dropped dropped() const {
    Dropped registers;
    registers.sources = tag.sources;
    registers.results = result;
    return registers;
  }
  friend bool operator==(const ReuseOutcome& a, const ReuseOutcome& b) {
    return a.found == b.found && a.tag == b.tag && a.result == b.result;
  }
};

std::string describe(const ReuseTag& tag);
std::string describe(const ReuseOperation& operation);
std::string describe(const ReuseOutcome& outcome);

/// The model's part of an operation. `entries` is directly indexed.
ReuseOutcome perform(ReuseEntries& entries, const ReuseOperation& operation);

/// The sizes for which a twin is made.
struct ReuseShape {
  unsigned entries = 256;  ///< 0: the configuration has no reuse buffer
  bool associative = false;
};
using ReuseTwin = cosim::OperationTwin<ReuseOperation, ReuseOutcome>;
using ReuseTwinKinds = cosim::TwinKinds<ReuseOperation, ReuseOutcome, ReuseShape>;
/// Those of this program, by the name that reuse_buffer.implementation selects.
ReuseTwinKinds& reuse_twin_kinds();

}  // namespace regatta::models::wir
