// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>

#include "core.h"

#include <string>
#include <vector>

namespace regatta::sm {

/// What keeps an instruction back until the results and reads of older ones of its warp are done, in an SM where that
/// is more than the scoreboard of IssueStage (sm.operand_path, sm.dependences). Warp::pending holds the registers with
/// a write in flight in any case: others look at it.
class Dependences : public protocol::LifecycleListener {
 public:
  /// What the warp waits for before its next instruction, `next`, may issue; ready: nothing.
  virtual WarpState state(const Warp& warp, const InstructionTraits& next) const = 0;
  /// For a warp whose state is WarpState::scoreboard.
  virtual protocol::Stall reason(const Warp& warp) const = 0;
  /// For the report of a deadlock: what the warp waits for, if it is more than registers; otherwise empty.
  virtual std::string describe_wait(const Warp& /*warp*/, const InstructionTraits& /*next*/) const { return {}; }
  /// The instruction issues.
  virtual void issued(Warp& warp, DynamicInstruction& d) = 0;
  /// An instruction of fixed latency is allocated and is dispatched in cycle `dispatch`.
  virtual void allocated(Warp& /*warp*/, DynamicInstruction& /*d*/, Cycle /*dispatch*/) {}
  /// The allocate stage of the scheduler's sub-core waits in this cycle. Returns warps that could have issued in it,
  /// and now cannot.
  virtual const std::vector<Warp*>& stalled(unsigned scheduler) = 0;
  /// Work::Kind::dependence, which only this schedules: what `value` says is due. Returns the warp whose state may have
  /// changed.
  virtual Warp& due(std::uint32_t value) = 0;
  /// An instruction of variable latency has read its source registers.
  virtual void sources_read(Warp& warp, DynamicInstruction& d) = 0;
  /// All results of the instruction are written.
  virtual void retired(Warp& warp, DynamicInstruction& d) = 0;
};

}  // namespace regatta::sm
