// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/time_keeper.h>

#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::protocol {

/// A role of a decode point, which derives from it: it holds inserted instructions that were decoded before, so that
/// they need no fetch.
class InsertionCache {
 public:
  virtual ~InsertionCache() = default;
  /// Asked about the warp's next inserted instruction when there is room for it. True: the point holds it already. The
  /// front end then takes it without a fetch slot or an access to its code line, and hands it over by decoded().
  virtual bool held(WarpSlot warp, std::uint32_t inserted) = 0;
  /// Asked when a launch begins. False: the scheme's instructions occupy no code.
  virtual bool in_code() const { return true; }
};

/// Takes the instructions of its scheme with Disposition::decode out of the stream: they occupy code, fetch slots and
/// cache lines, but no issue slots. Inserted instructions that issue are an IssueGate's (InsertedStream).
///
/// Called by: the front end, when a fetch arrives, for each inserted instruction of the scheme in it, in program order
/// per warp and before the instruction behind it can issue. Bounded: the front end fetches no further than room()
/// allows; changed() is notified when there is more room. May change: its own state.
class DecodePoint : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  /// The inserted instructions with this scheme's name are in the stream; others are not.
  virtual std::string scheme() const = 0;
  /// Number of inserted instructions that the point can still accept from the warp, not counting those in flight.
  virtual unsigned room(WarpSlot warp) const = 0;
  /// `inserted` is an index into Kernel::inserted; `sequence` is the position in the warp's program order
  /// (DynamicInstruction::sequence) of the instruction behind it.
  virtual void decoded(const WarpInfo& warp, std::uint32_t inserted, std::uint64_t sequence) = 0;
  /// Notified when there is more room.
  virtual const sc_core::sc_event& changed() const = 0;
  /// Asked once, before the first launch. Null: every inserted instruction is fetched.
  virtual InsertionCache* cache() { return dynamic_cast<InsertionCache*>(this); }
};

}  // namespace regatta::protocol
