// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core.h"

namespace regatta::sm {

/// What keeps an instruction back until the results and reads of older ones of its warp are done, in an SM where that
/// is more than the scoreboard of IssueStage (sm.operand_path, sm.dependences). Warp::pending holds the registers with
/// a write in flight in any case: others look at it.
class Dependences {
 public:
  virtual ~Dependences() = default;
  virtual void kernel_started() {}
  /// What the warp waits for before its next instruction, `next`, may issue; ready: nothing.
  virtual WarpState state(const Warp& warp, const InstructionTraits& next) const = 0;
  /// The instruction issues.
  virtual void issued(Warp& warp, DynamicInstruction& d) = 0;
  /// An instruction of fixed latency is allocated and is dispatched in cycle `dispatch`.
  virtual void allocated(Warp& warp, DynamicInstruction& d, Cycle dispatch) = 0;
  /// Work::Kind::forwarded and settled, if it schedules them. The caller updates the warp's state.
  virtual void forwarded(Warp& warp, DynamicInstruction& d) = 0;
  virtual void settled(Warp& warp, DynamicInstruction& d) = 0;
  /// An instruction of variable latency has read its source registers.
  virtual void sources_read(Warp& warp, DynamicInstruction& d) = 0;
  /// All results of the instruction are written.
  virtual void retired(Warp& warp, DynamicInstruction& d) = 0;
};

}  // namespace regatta::sm
