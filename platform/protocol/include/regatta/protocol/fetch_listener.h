// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/time_keeper.h>

namespace regatta::protocol {

/// Sees the instructions of the program between the instruction cache and the instruction buffers, for a block that
/// acts on them before they issue. A block that only counts is an Observer.
///
/// Called by: the front end. May change: its own state.
class FetchListener : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  /// The instruction is fetched, after its lines were found; in program order per warp.
  virtual void fetched(const WarpInfo& warp, const InstructionTraits& traits) = 0;
  /// Everything fetched for the warp is decoded and in its instruction buffer; it can issue from now on.
  virtual void arrived(const WarpInfo& warp) = 0;
};

}  // namespace regatta::protocol
