// SPDX-License-Identifier: Apache-2.0
//
// Register moves that gates put before instructions: what a machine knows of them statically, made when one is wanted.
#pragma once

#include "core.h"

#include <deque>

namespace regatta::sm {

class InjectedMoves : public protocol::Injector {
 public:
  explicit InjectedMoves(Core& core) : core_(core) {}

  /// A gate, asked about an instruction of `warp`, wants a move ahead of it.
  void move(WarpSlot warp, protocol::RegisterId reg) override;
  /// What was wanted since the last call; the gates' answers are over.
  bool take_request(protocol::RegisterId& reg);
  bool wanted() const { return wanted_; }
  /// Whose register was wanted last.
  WarpSlot asked_for() const { return warp_; }

  /// The move of `reg` onto itself, in all lanes of the warp, ahead of `next`. Back to the pool with it, if it is not
  /// issued after all.
  DynamicInstruction& make(const Warp& warp, protocol::RegisterId reg, const DynamicInstruction& next);

  std::uint64_t issued = 0;

 private:
  Core& core_;
  bool wanted_ = false;
  WarpSlot warp_;
  protocol::RegisterId register_;
  std::deque<trace::StaticInstruction> static_;  ///< by register; grows when a register is moved first
  std::deque<InstructionTraits> traits_;         ///< by pool index: each names the instruction that it stands before
};

}  // namespace regatta::sm
