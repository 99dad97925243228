// SPDX-License-Identifier: Apache-2.0
//
// The roles of an issue gate, and what the SM gives to a gate in two of them. A gate derives from IssueGate and from
// the roles that it has.
#pragma once

#include <regatta/protocol/lifecycle.h>

#include <string>

namespace regatta::protocol {

/// A gate reports here which warps it keeps closed, instead of refusing each of their instructions.
class GateListener {
 public:
  virtual ~GateListener() = default;
  /// From now on may_issue() would refuse (or no longer refuses) every instruction of the warp. Warps start open.
  virtual void closed(WarpSlot warp, bool is_closed) = 0;
  /// Call it in a may_issue() that refuses: the gate would refuse this warp's instruction until cycle `until`, later
  /// than the present one. The warp is not offered before that cycle; no changed() is needed. For short waits: unlike a
  /// closed warp, a paused warp can still issue as far as the scheduling policy knows.
  virtual void pause(WarpSlot warp, Cycle until) = 0;
  /// In cycle `at`, later than the present one, may_issue() may agree to a warp that it has refused. Replaces the
  /// notification of changed(), for a gate that refuses often or knows in advance when to ask again.
  virtual void reconsider(Cycle at) = 0;
};

/// Inserts register moves requested by a gate into the pipeline.
class Injector {
 public:
  virtual ~Injector() = default;
  /// Call it in a may_issue() that refuses the instruction. In its place and in the same cycle, a move of the register
  /// onto itself, in all lanes of the warp, issues to the SP pipelines, if a collector unit is free and the gates agree
  /// to the move. The scoreboard orders the instruction behind the move: the gate is asked about the instruction again
  /// when the move is written back if the instruction accesses the register, or in the next cycle if no unit was free,
  /// and may request the move again. No result for the register may be pending.
  virtual void move(WarpSlot warp, RegisterId reg) = 0;
};

/// A gate that tells of whole warps, or of cycles, instead of refusing again and again.
class GateReporter {
 public:
  virtual ~GateReporter() = default;
  /// Once, before the first launch: the gate keeps the listener and calls it. The instructions of a closed warp are not
  /// offered to may_issue(); if the scheduler finds no other warp, this counts as a refusal.
  virtual void connect(GateListener&) = 0;
};

/// A gate of inserted instructions that issue (Disposition::issue): they are in the stream because of it. They are
/// offered to this gate and to no gate of another scheme, with DynamicInstruction::injected set.
class InsertedStream {
 public:
  virtual ~InsertedStream() = default;
  /// The scheme of the instructions. Empty: there are none. Asked before the first launch.
  virtual std::string inserted_scheme() const = 0;
  /// Whether they are in the stream of the launch that begins: a compiler that knows the machine inserts none where the
  /// launch has no use for them. Asked after Residency::plan() and before kernel_started().
  virtual bool takes_inserted() const { return true; }
};

/// A gate that puts moves before instructions.
class MoveRequester {
 public:
  virtual ~MoveRequester() = default;
  /// Once, before the first launch: the gate keeps the injector, and may use it.
  virtual void inject_through(Injector&) = 0;
};

/// A gate whose block would lose values if the warp lost its place in the active set of its scheduler.
class ActiveSetKeeper {
 public:
  virtual ~ActiveSetKeeper() = default;
  /// Asked when the warp begins to wait for memory at its next instruction, under a policy with an active set. True:
  /// for the policy this is a short wait, so that the warp stays in the active set. It takes a place meanwhile, so the
  /// wait must not depend on other warps.
  virtual bool keeps_active(const WarpInfo&, const InstructionTraits& next) const = 0;
};

/// What a gate is besides an IssueGate (IssueGate::roles()). Null: it is not.
struct GateRoles {
  GateReporter* reporter = nullptr;
  InsertedStream* inserted = nullptr;
  MoveRequester* mover = nullptr;
  ActiveSetKeeper* keeper = nullptr;
};

}  // namespace regatta::protocol
