// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/gate_roles.h>
#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/time_keeper.h>

#include <systemc>

namespace regatta::protocol {

/// Decides whether a warp may issue its next instruction now. Gates form a list; all must agree.
///
/// Called by: issue, for the instruction at the head of a warp that a scheduler picked, with a clear scoreboard and a
/// free collector unit; at most once per scheduler, warp and cycle. May change: its own state only; may_issue() must be
/// idempotent within a cycle until issued() is called. Must not: keep the reference after written_back().
/// A gate that refused must notify changed() at the latest when it may agree; the SM may sleep until then.
///
/// What only some gates do is in interfaces of its own, the roles of a gate (gate_roles.h): a gate derives from those
/// that it has.
class IssueGate : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  virtual bool may_issue(const DynamicInstruction& instruction) = 0;
  /// The instruction was issued (all gates agreed). In program order per warp.
  virtual void issued(const DynamicInstruction&) {}
  /// All its results are written.
  virtual void written_back(const DynamicInstruction&) {}
  /// The barrier at which the warp waits has opened; after its issued(), in the cycle in which the warp may continue.
  virtual void barrier_opened(const WarpInfo&) {}
  virtual const sc_core::sc_event& changed() const = 0;
  /// Asked once, before the first launch. Only a gate that stands for another one has another answer than this.
  virtual GateRoles roles() {
    return {dynamic_cast<GateReporter*>(this), dynamic_cast<InsertedStream*>(this), dynamic_cast<MoveRequester*>(this),
            dynamic_cast<ActiveSetKeeper*>(this)};
  }
};

}  // namespace regatta::protocol
