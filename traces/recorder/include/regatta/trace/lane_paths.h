// SPDX-License-Identifier: Apache-2.0
//
// Where the lanes of a warp are between two of its instructions, and the SIMT stack that takes them from one to the
// next.
#pragma once

#include <regatta/trace/kernel.h>
#include <regatta/trace/warp_stream.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::trace {

/// Follows the lanes of one warp. Its user says which instruction executes next and on which path; the answer is the
/// pushes and pops between that instruction and the one before it. Lanes that part wait on the stack. Any order is
/// possible: lanes of one place may go one after the other, and lanes that wait for each other go on together.
class LanePaths {
 public:
  LanePaths() = default;
  /// `threads`: the lanes that exist. They stand at static index 0.
  LanePaths(const Kernel& kernel, LaneMask threads) : kernel_(&kernel), live_(threads), threads_(threads) {}

  /// Lanes that have not exited.
  LaneMask live() const { return live_; }
  /// The lanes that the last instruction sends to `index`.
  LaneMask going(std::uint32_t index) const;
  /// All lanes that stand before `index`.
  LaneMask waiting(std::uint32_t index) const;

  /// Moves to instruction `index` with the lanes of `path`, which stand before it. Appends the events. Returns what is
  /// wrong, "" if nothing; the state is then as before.
  std::string step(std::uint32_t index, LaneMask path, std::vector<StackEvent>& events);
  /// The lanes of the path that execute the instruction. To be called after step().
  void execute(LaneMask active);
  /// Of the active lanes of a branch: where these go, if not to its target. Before the next step().
  std::string goes_to(LaneMask lanes, std::uint32_t index);

 private:
  struct Group {
    std::uint32_t next = 0;
    LaneMask lanes = 0;
  };
  static void add(std::vector<Group>& groups, std::uint32_t next, LaneMask lanes);
  bool goes_by_itself(std::uint32_t index, LaneMask path) const;
  std::string misplaced(std::uint32_t index, LaneMask lanes) const;

  const Kernel* kernel_ = nullptr;
  LaneMask live_ = 0;
  LaneMask threads_ = 0;
  bool begun_ = false;
  std::uint32_t index_ = 0;  ///< of the last instruction
  LaneMask path_ = 0;        ///< its lanes
  LaneMask active_ = 0;
  std::vector<Group> here_;    ///< lanes of the last instruction, by where they go
  std::vector<Group> parked_;  ///< the stack, bottom first
};

}  // namespace regatta::trace
