// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/warp_stream.h>

#include <cstdint>
#include <vector>

namespace regatta::trace {

/// Whether a warp goes from instruction to instruction as the kernel and its SIMT stack lead it: to the next one, to
/// the target of a branch with the lanes that take it, or to where the stack's top entry resumes with the lanes of
/// that. Whatever decides where lanes meet again is in the stack, and is not judged.
class FlowCheck {
 public:
  explicit FlowCheck(WarpCursor& cursor) : cursor_(cursor) {}
  /// The cursor has stepped on. Reads the stack events of its instruction.
  void step();
  /// The cursor is at the end of the warp.
  void finish() const;

 private:
  void check_arrival();
  [[noreturn]] void astray(const std::string& expected) const;

  WarpCursor& cursor_;
  const StaticInstruction* before_ = nullptr;  ///< the instruction before; null: this is the first
  std::uint32_t before_index_ = 0;
  LaneMask path_ = 0, active_ = 0;  ///< its lanes
  LaneMask live_ = 0;               ///< lanes that have not exited
  bool popped_ = false;             ///< an entry became the top at that instruction
  StackEvent top_;                  ///< that entry
  std::vector<StackEvent> parked_, events_;
};

}  // namespace regatta::trace
